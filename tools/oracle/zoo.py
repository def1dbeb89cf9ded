"""Models of transformers and diffusers at tiny sizes, with random weights: a name, with suffixes from OPTIONS, to a Model."""

import dataclasses

import torch

from .capture import OPTIONS, Model
from .features import train

WORDS, BATCH, LENGTH = 256, 3, 17
SIZES = {"vocab_size": WORDS, "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128,
         "max_position_embeddings": 64, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
GROUPED = {**SIZES, "num_key_value_heads": 2}
LAYERED = {"d_model": 64, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4,
           "encoder_ffn_dim": 128, "decoder_ffn_dim": 128, "vocab_size": WORDS, "max_position_embeddings": 64, "pad_token_id": 0,
           "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1, "forced_eos_token_id": None}
PICTURE = {"image_size": 32, "patch_size": 8, "num_labels": 5}
STAGES = {"depths": [1, 1, 2], "num_labels": 5}


class UnknownModel(Exception):
    """The command line names a model or suffix that isn't in the tables."""


def words(*shape):
    return torch.randint(3, WORDS, shape)


def next_word():
    ids = words(BATCH, LENGTH)
    return {"input_ids": ids, "labels": ids}


def masked_word():
    return {**next_word(), "attention_mask": (torch.arange(LENGTH) < LENGTH - 3).long().expand(BATCH, -1)}


def classify_words():
    return {"input_ids": words(BATCH, LENGTH), "labels": torch.arange(BATCH) % 2}


def answer_span():
    return {"input_ids": words(BATCH, LENGTH), "start_positions": torch.arange(BATCH), "end_positions": torch.arange(BATCH) + 2}


def translate():
    return {"input_ids": words(BATCH, LENGTH), "labels": words(BATCH, LENGTH - 5)}


def picture(size=32, channels=3):
    return torch.randn(BATCH, channels, size, size)


def classify_picture(size=32):
    return lambda: {"pixel_values": picture(size), "labels": torch.arange(BATCH)}


def label_pixels():
    return {"pixel_values": picture(64), "labels": torch.randint(0, 5, (BATCH, 64, 64))}


def match_pictures():
    return {"input_ids": words(BATCH, 16), "pixel_values": picture(), "return_loss": True}


def transcribe():
    return {"input_features": torch.randn(BATCH, 8, 32), "labels": words(BATCH, 9)}


def recognise():
    return {"input_values": torch.randn(BATCH, 1200), "labels": torch.randint(1, 20, (BATCH, 3))}


def forecast():
    return {"past_values": torch.randn(BATCH, 32, 4), "future_values": torch.randn(BATCH, 8, 4)}


def denoise(size=16, channels=3):
    return lambda: {"sample": picture(size, channels), "timestep": torch.arange(BATCH)}


def denoise_conditioned():
    return {"sample": picture(16, 4), "timestep": torch.arange(BATCH), "encoder_hidden_states": torch.randn(BATCH, 7, 32)}


def denoise_classes():
    return {"hidden_states": picture(8, 4), "timestep": torch.arange(BATCH), "class_labels": torch.arange(BATCH)}


@dataclasses.dataclass
class Entry:
    library: str  # "transformers": made from a configuration; "diffusers": made from keywords
    make: str  # the model's class
    inputs: callable
    sizes: dict
    config: str = ""  # the configuration's class


def language(config, make, inputs=next_word, sizes=SIZES, **more):
    return Entry("transformers", make, inputs, {**sizes, **more}, config)


def vision(config, make, inputs, sizes, **more):
    return Entry("transformers", make, inputs, {**sizes, **more}, config)


def diffusion(make, inputs, **sizes):
    return Entry("diffusers", make, inputs, sizes)


HEADS = {"num_attention_heads": 4, "hidden_size": 64, "intermediate_size": 128}
BLOCKS = {"block_out_channels": (16, 32), "layers_per_block": 1, "norm_num_groups": 4}
CLIP = {"text_config": {**SIZES, "max_position_embeddings": 16},
        "vision_config": {**HEADS, "num_hidden_layers": 2, "image_size": 32, "patch_size": 8}, "projection_dim": 32}

TABLE = {
    "gpt2": language("GPT2Config", "GPT2LMHeadModel", vocab_size=WORDS, n_embd=64, n_layer=2, n_head=4, n_positions=64),
    "gpt_neox": language("GPTNeoXConfig", "GPTNeoXForCausalLM"),
    "gptj": language("GPTJConfig", "GPTJForCausalLM", n_embd=64, n_layer=2, n_head=4, n_positions=64, rotary_dim=8),
    "bloom": language("BloomConfig", "BloomForCausalLM", n_layer=2, n_head=4),
    "opt": language("OPTConfig", "OPTForCausalLM", ffn_dim=128, word_embed_proj_dim=64),
    "llama": language("LlamaConfig", "LlamaForCausalLM", sizes=GROUPED),
    "mistral": language("MistralConfig", "MistralForCausalLM", sizes=GROUPED, sliding_window=8),
    "mixtral": language("MixtralConfig", "MixtralForCausalLM", sizes=GROUPED, num_local_experts=4),
    "qwen2": language("Qwen2Config", "Qwen2ForCausalLM", sizes=GROUPED),
    "qwen3": language("Qwen3Config", "Qwen3ForCausalLM", sizes=GROUPED, head_dim=16),
    "gemma": language("GemmaConfig", "GemmaForCausalLM", sizes=GROUPED, head_dim=16),
    "gemma2": language("Gemma2Config", "Gemma2ForCausalLM", sizes=GROUPED, head_dim=16, sliding_window=8),
    "phi": language("PhiConfig", "PhiForCausalLM"),
    "olmo2": language("Olmo2Config", "Olmo2ForCausalLM", sizes=GROUPED),
    "stablelm": language("StableLmConfig", "StableLmForCausalLM", sizes=GROUPED),
    "falcon": language("FalconConfig", "FalconForCausalLM"),
    "mamba": language("MambaConfig", "MambaForCausalLM", state_size=8),
    "bert": language("BertConfig", "BertForMaskedLM", masked_word),
    "roberta": language("RobertaConfig", "RobertaForSequenceClassification", classify_words),
    "albert": language("AlbertConfig", "AlbertForMaskedLM", masked_word, embedding_size=32),
    "electra": language("ElectraConfig", "ElectraForQuestionAnswering", answer_span, embedding_size=32),
    "distilbert": language("DistilBertConfig", "DistilBertForMaskedLM", masked_word, dim=64, n_layers=2, n_heads=4, hidden_dim=128),
    "deberta": language("DebertaConfig", "DebertaForMaskedLM", masked_word, relative_attention=True, pos_att_type=["p2c", "c2p"]),
    "deberta_v2": language("DebertaV2Config", "DebertaV2ForMaskedLM", masked_word, relative_attention=True, pos_att_type=["p2c", "c2p"]),
    "mpnet": language("MPNetConfig", "MPNetForMaskedLM", masked_word),
    "xlnet": language("XLNetConfig", "XLNetForSequenceClassification", classify_words, {"vocab_size": WORDS}, d_model=64,
                      n_layer=2, n_head=4, d_inner=128),
    "t5": language("T5Config", "T5ForConditionalGeneration", translate, vocab_size=WORDS, d_model=64, d_kv=16, d_ff=128, num_layers=2,
                   num_heads=4, decoder_start_token_id=0),
    "bart": language("BartConfig", "BartForConditionalGeneration", translate, LAYERED),
    "pegasus": language("PegasusConfig", "PegasusForConditionalGeneration", translate, LAYERED),
    "marian": language("MarianConfig", "MarianMTModel", translate, LAYERED),
    "whisper": language("WhisperConfig", "WhisperForConditionalGeneration", transcribe, LAYERED, num_mel_bins=8, max_source_positions=16,
                        max_target_positions=16, suppress_tokens=None, begin_suppress_tokens=None),
    "wav2vec2": language("Wav2Vec2Config", "Wav2Vec2ForCTC", recognise, conv_dim=(16, 16), conv_stride=(5, 4), conv_kernel=(10, 8),
                         num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=4, mask_time_prob=0.0),
    "patchtst": language("PatchTSTConfig", "PatchTSTForPrediction", forecast, {}, num_input_channels=4, context_length=32, patch_length=8,
                         patch_stride=8, prediction_length=8, d_model=32, ffn_dim=64, num_hidden_layers=2, num_attention_heads=4),
    "vit": vision("ViTConfig", "ViTForImageClassification", classify_picture(), {**SIZES, **PICTURE}),
    "deit": vision("DeiTConfig", "DeiTForImageClassification", classify_picture(), {**SIZES, **PICTURE}),
    "beit": vision("BeitConfig", "BeitForImageClassification", classify_picture(), {**SIZES, **PICTURE}),
    "dinov2": vision("Dinov2Config", "Dinov2ForImageClassification", classify_picture(), {**SIZES, **PICTURE}),
    "swin": vision("SwinConfig", "SwinForImageClassification", classify_picture(), {}, image_size=32, patch_size=2, embed_dim=16,
                   depths=[2, 2], num_heads=[2, 4], window_size=4, num_labels=5),
    "convnext": vision("ConvNextConfig", "ConvNextForImageClassification", classify_picture(), STAGES, num_stages=3,
                       hidden_sizes=[16, 32, 64], drop_path_rate=0.1),
    "resnet": vision("ResNetConfig", "ResNetForImageClassification", classify_picture(), STAGES, embedding_size=16,
                     hidden_sizes=[16, 32, 64]),
    "regnet": vision("RegNetConfig", "RegNetForImageClassification", classify_picture(), STAGES, embedding_size=16,
                     hidden_sizes=[16, 32, 64], groups_width=8),
    "segformer": vision("SegformerConfig", "SegformerForSemanticSegmentation", label_pixels, {}, hidden_sizes=[8, 16, 32, 64],
                        num_attention_heads=[1, 2, 2, 4], depths=[1, 1, 1, 1], decoder_hidden_size=32, num_labels=5),
    "clip": vision("CLIPConfig", "CLIPModel", match_pictures, CLIP),
    "unet2d": diffusion("UNet2DModel", denoise(), sample_size=16, down_block_types=("DownBlock2D", "AttnDownBlock2D"),
                        up_block_types=("AttnUpBlock2D", "UpBlock2D"), attention_head_dim=8, **BLOCKS),
    "unet2d_condition": diffusion("UNet2DConditionModel", denoise_conditioned, sample_size=16, cross_attention_dim=32,
                                  down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
                                  up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"), attention_head_dim=4, **BLOCKS),
    "autoencoder_kl": diffusion("AutoencoderKL", lambda: {"sample": picture(16), "sample_posterior": True},
                                down_block_types=("DownEncoderBlock2D",) * 2, up_block_types=("UpDecoderBlock2D",) * 2,
                                latent_channels=4, **BLOCKS),
    "vq_model": diffusion("VQModel", lambda: {"sample": picture(16)}, down_block_types=("DownEncoderBlock2D",) * 2,
                          up_block_types=("UpDecoderBlock2D",) * 2, latent_channels=4, num_vq_embeddings=16, **BLOCKS),
    "dit": diffusion("DiTTransformer2DModel", denoise_classes, num_attention_heads=4, attention_head_dim=16, num_layers=2, sample_size=8,
                     norm_num_groups=4, num_embeds_ada_norm=10, out_channels=8),
}


def names():
    return list(TABLE)


def build(entry, options):
    """The module, in train mode unless asked otherwise."""
    import importlib
    library = importlib.import_module(entry.library)
    if entry.library == "transformers":
        config = getattr(library, entry.config)(**entry.sizes)
        config.use_cache = False
        if "eager" in options:
            config._attn_implementation = "eager"
        module = getattr(library, entry.make)(config)
    else:
        module = getattr(library, entry.make)(**entry.sizes)
    module.train("eval" not in options)
    if "checkpoint" in options and entry.library == "transformers":
        module.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    elif "checkpoint" in options:
        module.enable_gradient_checkpointing()
    return module


def library_of(name):
    """The package that a model comes from. UnknownModel if there is no such model."""
    base = name.split("+")[0]
    if base not in TABLE:
        raise UnknownModel(f"unknown model \"{base}\"; --list prints the names")
    return TABLE[base].library


def model(name):
    """The Model called `name`, for example "gpt2+checkpoint+dynamic". UnknownModel if there is none."""
    library_of(name)
    base, *suffixes = name.split("+")
    for suffix in suffixes:
        if suffix not in OPTIONS:
            raise UnknownModel(f"unknown suffix \"+{suffix}\" of {base}; expected one of {', '.join(OPTIONS)}")
    entry, options = TABLE[base], set(suffixes)

    def step(compiled):
        module = build(entry, options)
        function = compiled(lambda inputs: module(**inputs, return_dict=False), fullgraph=False)
        train(function, entry.inputs())
    return Model(name, step, options)
