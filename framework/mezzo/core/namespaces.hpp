#pragma once

// Keras' names of families: `layers::Dense`, `losses::MeanSquaredError`, `initializers::Zeros`. Each namespace has all
// names of mezzo, and first those of its own: where Keras has one name in two families, mezzo:: has the layer or the
// loss, and the other one is declared in its namespace (`metrics::MeanSquaredError`, `initializers::Identity`).
namespace mezzo {

namespace activations {
using namespace mezzo;
}
namespace constraints {
using namespace mezzo;
}
namespace initializers {
using namespace mezzo;
}
namespace layers {
using namespace mezzo;
}
namespace losses {
using namespace mezzo;
}
namespace metrics {
using namespace mezzo;
}
namespace optimizers {
using namespace mezzo;
}
namespace regularizers {
using namespace mezzo;
}

}  // namespace mezzo
