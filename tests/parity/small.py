"""Sizes of the small models, the same as in tests/models/small.hpp."""

BERT = {
    "vocab_size": 19, "hidden_size": 12, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 20,
    "max_position_embeddings": 10, "hidden_dropout_prob": 0, "attention_probs_dropout_prob": 0,
    "attn_implementation": "eager",
}
GPT = {
    "vocab_size": 17, "n_positions": 12, "n_embd": 12, "n_layer": 2, "n_head": 3, "resid_pdrop": 0, "embd_pdrop": 0,
    "attn_pdrop": 0, "bos_token_id": None, "eos_token_id": None, "attn_implementation": "eager",
}
VIT = {
    "image_size": 8, "patch_size": 4, "num_layers": 2, "num_heads": 3, "hidden_dim": 12, "mlp_dim": 20,
    "num_classes": 5,
}
DISTILBERT = {
    "vocab_size": 19, "max_position_embeddings": 10, "n_layers": 2, "n_heads": 3, "dim": 12, "hidden_dim": 20,
    "dropout": 0, "attention_dropout": 0, "seq_classif_dropout": 0, "attn_implementation": "eager",
}
LLAMA = {
    "vocab_size": 17, "hidden_size": 24, "intermediate_size": 20, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "max_position_embeddings": 12, "bos_token_id": None, "eos_token_id": None,
    "attn_implementation": "eager",
}
