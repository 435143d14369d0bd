// error: (no matching function|no matching constructor|ambiguous)
#include <mezzo/mezzo.hpp>

#ifdef MEZZO_FAIL
mezzo::Policy policy({"float32", "bfloat16"});
#else
mezzo::Policy policy("p=f32,c=bf16");
mezzo::Policy braces{"bfloat16"};
mezzo::Policy of_text(std::string("float32")), of_dtype(mezzo::DType::float64);
mezzo::Dense dense({.units = 1, .dtype = "bfloat16"});
mezzo::Dense inherits({.units = 1, .dtype = {}});
#endif
