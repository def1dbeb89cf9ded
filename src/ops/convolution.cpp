#include "ops/rows.h"

namespace sapwood::ops {
namespace {

// clang-format off
constexpr OpRow kRows[] = {
    {"aten._convolution.deprecated",
     "aten::_convolution.deprecated(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, "
     "SymInt[] dilation, bool transposed, int[] output_padding, SymInt groups, bool benchmark, bool deterministic, "
     "bool cudnn_enabled) -> Tensor", C::kConvolution},
    {"aten._convolution.default",
     "aten::_convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, SymInt[] "
     "dilation, bool transposed, SymInt[] output_padding, SymInt groups, bool benchmark, bool deterministic, bool "
     "cudnn_enabled, bool allow_tf32) -> Tensor", C::kConvolution, R::kNever, 0, F::kConvolution},
    {"aten._slow_conv2d_forward.default",
     "aten::_slow_conv2d_forward(Tensor self, Tensor weight, SymInt[2] kernel_size, Tensor? bias, SymInt[2] stride, "
     "SymInt[2] padding) -> Tensor", C::kConvolution, R::kNever, 0, F::kConvolution},
    {"aten._slow_conv2d_backward.output_mask",
     "aten::_slow_conv2d_backward.output_mask(Tensor grad_output, Tensor self, Tensor weight, SymInt[2] "
     "kernel_size, SymInt[2] stride, SymInt[2] padding, bool[3] output_mask) -> (Tensor grad_input, Tensor "
     "grad_weight, Tensor grad_bias)", C::kConvolution},
    {"aten.conv1d.default",
     "aten::conv1d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=[1], SymInt[1] padding=[0], "
     "SymInt[1] dilation=[1], SymInt groups=1) -> Tensor", C::kConvolution},
    {"aten.conv1d.padding",
     "aten::conv1d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=[1], str "
     "padding=\"valid\", SymInt[1] dilation=[1], SymInt groups=1) -> Tensor", C::kConvolution},
    {"aten.conv2d.default",
     "aten::conv2d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=[1, 1], SymInt[2] padding=[0, "
     "0], SymInt[2] dilation=[1, 1], SymInt groups=1) -> Tensor", C::kConvolution},
    {"aten.conv2d.padding",
     "aten::conv2d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=[1, 1], str "
     "padding=\"valid\", SymInt[2] dilation=[1, 1], SymInt groups=1) -> Tensor", C::kConvolution},
    {"aten.conv3d.default",
     "aten::conv3d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=[1, 1, 1], SymInt[3] "
     "padding=[0, 0, 0], SymInt[3] dilation=[1, 1, 1], SymInt groups=1) -> Tensor", C::kConvolution},
    {"aten.conv3d.padding",
     "aten::conv3d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=[1, 1, 1], str "
     "padding=\"valid\", SymInt[3] dilation=[1, 1, 1], SymInt groups=1) -> Tensor", C::kConvolution},
    {"aten.conv_transpose1d.default",
     "aten::conv_transpose1d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=[1], SymInt[1] "
     "padding=[0], SymInt[1] output_padding=[0], SymInt groups=1, SymInt[1] dilation=[1]) -> Tensor", C::kConvolution},
    {"aten.conv_transpose2d.input",
     "aten::conv_transpose2d.input(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=[1, 1], "
     "SymInt[2] padding=[0, 0], SymInt[2] output_padding=[0, 0], SymInt groups=1, SymInt[2] dilation=[1, 1]) -> "
     "Tensor", C::kConvolution},
    {"aten.convolution.default",
     "aten::convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, SymInt[] "
     "dilation, bool transposed, SymInt[] output_padding, SymInt groups) -> Tensor",
     C::kConvolution, R::kHeavy, 0, F::kConvolution},
    {"aten.convolution_backward.default",
     "aten::convolution_backward(Tensor grad_output, Tensor input, Tensor weight, SymInt[]? bias_sizes, SymInt[] "
     "stride, SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups, bool[3] "
     "output_mask) -> (Tensor, Tensor, Tensor)", C::kConvolution, R::kHeavy, 0, F::kConvolutionBackward},
    {"aten.convolution_overrideable.default",
     "aten::convolution_overrideable(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, "
     "SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups) -> Tensor",
     C::kConvolution, R::kNever, 0, F::kConvolution},
    {"aten.convolution_backward_overrideable.default",
     "aten::convolution_backward_overrideable(Tensor grad_output, Tensor input, Tensor weight, SymInt[] stride, "
     "SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups, bool[3] "
     "output_mask) -> (Tensor grad_input, Tensor grad_weight, Tensor grad_bias)", C::kConvolution},
    {"aten.mkldnn_convolution.default",
     "aten::mkldnn_convolution(Tensor self, Tensor weight, Tensor? bias, SymInt[] padding, SymInt[] stride, "
     "SymInt[] dilation, SymInt groups) -> Tensor", C::kConvolution},
    {"aten.slow_conv_transpose2d.default",
     "aten::slow_conv_transpose2d(Tensor self, Tensor weight, SymInt[2] kernel_size, Tensor? bias=None, SymInt[2] "
     "stride=[1, 1], SymInt[2] padding=[0, 0], SymInt[2] output_padding=[0, 0], SymInt[2] dilation=[1, 1]) -> Tensor",
     C::kConvolution},
    {"aten.thnn_conv2d.default",
     "aten::thnn_conv2d(Tensor self, Tensor weight, SymInt[2] kernel_size, Tensor? bias=None, SymInt[2] stride=[1, "
     "1], SymInt[2] padding=[0, 0]) -> Tensor", C::kConvolution},
    {"aten._adaptive_avg_pool2d.default",
     "aten::_adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor", C::kPooling},
    {"aten._adaptive_avg_pool2d_backward.default",
     "aten::_adaptive_avg_pool2d_backward(Tensor grad_output, Tensor self) -> Tensor", C::kPooling},
    {"aten._adaptive_avg_pool3d.default",
     "aten::_adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor", C::kPooling},
    {"aten._adaptive_avg_pool3d_backward.default",
     "aten::_adaptive_avg_pool3d_backward(Tensor grad_output, Tensor self) -> Tensor", C::kPooling},
    {"aten.adaptive_avg_pool1d.default",
     "aten::adaptive_avg_pool1d(Tensor self, int[1] output_size) -> Tensor", C::kPooling},
    {"aten.adaptive_avg_pool2d.default",
     "aten::adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor", C::kPooling},
    {"aten.adaptive_max_pool2d.default",
     "aten::adaptive_max_pool2d(Tensor self, int[2] output_size) -> (Tensor, Tensor)", C::kPooling},
    {"aten.adaptive_max_pool2d_backward.default",
     "aten::adaptive_max_pool2d_backward(Tensor grad_output, Tensor self, Tensor indices) -> Tensor", C::kPooling},
    {"aten.avg_pool1d.default",
     "aten::avg_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], bool ceil_mode=False, "
     "bool count_include_pad=True) -> Tensor", C::kPooling},
    {"aten.avg_pool2d.default",
     "aten::avg_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, bool ceil_mode=False, "
     "bool count_include_pad=True, int? divisor_override=None) -> Tensor", C::kPooling},
    {"aten.avg_pool2d_backward.default",
     "aten::avg_pool2d_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, int[2] padding, "
     "bool ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor", C::kPooling},
    {"aten.avg_pool3d.default",
     "aten::avg_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, bool ceil_mode=False, "
     "bool count_include_pad=True, int? divisor_override=None) -> Tensor", C::kPooling},
    {"aten.avg_pool3d_backward.default",
     "aten::avg_pool3d_backward(Tensor grad_output, Tensor self, int[3] kernel_size, int[3] stride, int[3] padding, "
     "bool ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor", C::kPooling},
    {"aten.max_pool2d.default",
     "aten::max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, bool "
     "ceil_mode=False) -> Tensor", C::kPooling},
    {"aten.max_pool2d_with_indices.default",
     "aten::max_pool2d_with_indices(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] "
     "dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)", C::kPooling},
    {"aten.max_pool2d_with_indices_backward.default",
     "aten::max_pool2d_with_indices_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, "
     "int[2] padding, int[2] dilation, bool ceil_mode, Tensor indices) -> Tensor", C::kPooling},
    {"aten.max_pool3d_with_indices.default",
     "aten::max_pool3d_with_indices(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, int[3] "
     "dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)", C::kPooling},
    {"aten.max_pool3d_with_indices_backward.default",
     "aten::max_pool3d_with_indices_backward(Tensor grad_output, Tensor self, int[3] kernel_size, int[3] stride, "
     "int[3] padding, int[3] dilation, bool ceil_mode, Tensor indices) -> Tensor", C::kPooling},
    {"aten.upsample_bicubic2d.default",
     "aten::upsample_bicubic2d(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float? "
     "scales_w=None) -> Tensor", C::kPooling},
    {"aten.upsample_bicubic2d.vec",
     "aten::upsample_bicubic2d.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) "
     "-> Tensor", C::kPooling},
    {"aten.upsample_bicubic2d_backward.default",
     "aten::upsample_bicubic2d_backward(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size, bool "
     "align_corners, float? scales_h=None, float? scales_w=None) -> Tensor", C::kPooling},
    {"aten.upsample_bilinear2d.default",
     "aten::upsample_bilinear2d(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, "
     "float? scales_w=None) -> Tensor", C::kPooling, R::kHeavy},
    {"aten.upsample_bilinear2d.vec",
     "aten::upsample_bilinear2d.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? "
     "scale_factors) -> Tensor", C::kPooling, R::kHeavy},
    {"aten.upsample_bilinear2d_backward.default",
     "aten::upsample_bilinear2d_backward(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size, bool "
     "align_corners, float? scales_h=None, float? scales_w=None) -> Tensor", C::kPooling},
    {"aten.upsample_linear1d.default",
     "aten::upsample_linear1d(Tensor self, SymInt[1] output_size, bool align_corners, float? scales=None) -> Tensor",
     C::kPooling},
    {"aten.upsample_linear1d.vec",
     "aten::upsample_linear1d.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) "
     "-> Tensor", C::kPooling},
    {"aten.upsample_linear1d_backward.default",
     "aten::upsample_linear1d_backward(Tensor grad_output, SymInt[1] output_size, SymInt[3] input_size, bool "
     "align_corners, float? scales=None) -> Tensor", C::kPooling},
    {"aten.upsample_nearest1d.default",
     "aten::upsample_nearest1d(Tensor self, SymInt[1] output_size, float? scales=None) -> Tensor", C::kPooling},
    {"aten.upsample_nearest1d.vec",
     "aten::upsample_nearest1d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor",
     C::kPooling},
    {"aten.upsample_nearest1d_backward.default",
     "aten::upsample_nearest1d_backward(Tensor grad_output, SymInt[1] output_size, SymInt[3] input_size, float? "
     "scales=None) -> Tensor", C::kPooling},
    {"aten.upsample_nearest2d.default",
     "aten::upsample_nearest2d(Tensor self, SymInt[2] output_size, float? scales_h=None, float? scales_w=None) -> "
     "Tensor", C::kPooling},
    {"aten.upsample_nearest2d.vec",
     "aten::upsample_nearest2d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor",
     C::kPooling},
    {"aten.upsample_nearest2d_backward.default",
     "aten::upsample_nearest2d_backward(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size, float? "
     "scales_h=None, float? scales_w=None) -> Tensor", C::kPooling},
    {"aten.grid_sampler_2d.default",
     "aten::grid_sampler_2d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool "
     "align_corners) -> Tensor", C::kPooling},
    {"aten.grid_sampler_2d_backward.default",
     "aten::grid_sampler_2d_backward(Tensor grad_output, Tensor input, Tensor grid, int interpolation_mode, int "
     "padding_mode, bool align_corners, bool[2] output_mask) -> (Tensor, Tensor)", C::kPooling},
};
// clang-format on

}  // namespace

std::span<const OpRow> convolution_rows() { return kRows; }

}  // namespace sapwood::ops
