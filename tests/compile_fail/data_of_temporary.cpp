// error: (use of|call to) deleted
#include <mezzo/mezzo.hpp>

mezzo::Tensor predicted() { return mezzo::Tensor({2}); }

#ifdef MEZZO_FAIL
const float* numbers = predicted().data<float>();
#else
const mezzo::Tensor kept = predicted();
const float* numbers = kept.data<float>();
#endif
