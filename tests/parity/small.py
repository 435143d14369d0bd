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
