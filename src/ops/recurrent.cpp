#include "ops/rows.h"

namespace sapwood::ops {
namespace {

// clang-format off
constexpr OpRow kRows[] = {
    {"aten.mkldnn_rnn_layer.default",
     "aten::mkldnn_rnn_layer(Tensor input, Tensor weight0, Tensor weight1, Tensor weight2, Tensor weight3, Tensor "
     "hx_, Tensor cx_, bool reverse, int[] batch_sizes, int mode, int hidden_size, int num_layers, bool has_biases, "
     "bool bidirectional, bool batch_first, bool train) -> (Tensor, Tensor, Tensor, Tensor)", C::kRecurrent},
    {"aten.mkldnn_rnn_layer_backward.default",
     "aten::mkldnn_rnn_layer_backward(Tensor input, Tensor weight1, Tensor weight2, Tensor weight3, Tensor weight4, "
     "Tensor hx_, Tensor cx_tmp, Tensor output, Tensor hy_, Tensor cy_, Tensor? grad_output, Tensor? grad_hy, "
     "Tensor? grad_cy, bool reverse, int mode, int hidden_size, int num_layers, bool has_biases, bool train, bool "
     "bidirectional, int[] batch_sizes, bool batch_first, Tensor workspace) -> (Tensor, Tensor, Tensor, Tensor, "
     "Tensor, Tensor, Tensor)", C::kRecurrent},
    {"aten._thnn_fused_lstm_cell.default",
     "aten::_thnn_fused_lstm_cell(Tensor input_gates, Tensor hidden_gates, Tensor cx, Tensor? input_bias=None, "
     "Tensor? hidden_bias=None) -> (Tensor, Tensor, Tensor)", C::kRecurrent},
    {"aten._thnn_fused_gru_cell.default",
     "aten::_thnn_fused_gru_cell(Tensor input_gates, Tensor hidden_gates, Tensor hx, Tensor? input_bias=None, "
     "Tensor? hidden_bias=None) -> (Tensor, Tensor)", C::kRecurrent},
    {"aten.lstm.input",
     "aten::lstm.input(Tensor input, Tensor[] hx, Tensor[] params, bool has_biases, int num_layers, float dropout, "
     "bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor, Tensor)", C::kRecurrent, R::kNever, kDraws},
    {"aten.lstm.data",
     "aten::lstm.data(Tensor data, Tensor batch_sizes, Tensor[] hx, Tensor[] params, bool has_biases, int "
     "num_layers, float dropout, bool train, bool bidirectional) -> (Tensor, Tensor, Tensor)",
     C::kRecurrent, R::kNever, kDraws},
    {"aten.gru.input",
     "aten::gru.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, "
     "bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)", C::kRecurrent, R::kNever, kDraws},
    {"aten.gru.data",
     "aten::gru.data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool has_biases, int num_layers, "
     "float dropout, bool train, bool bidirectional) -> (Tensor, Tensor)", C::kRecurrent, R::kNever, kDraws},
    {"aten.rnn_tanh.input",
     "aten::rnn_tanh.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float "
     "dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)",
     C::kRecurrent, R::kNever, kDraws},
    {"aten.rnn_tanh.data",
     "aten::rnn_tanh.data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool has_biases, int "
     "num_layers, float dropout, bool train, bool bidirectional) -> (Tensor, Tensor)",
     C::kRecurrent, R::kNever, kDraws},
    {"aten.rnn_relu.input",
     "aten::rnn_relu.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float "
     "dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)",
     C::kRecurrent, R::kNever, kDraws},
    {"aten.rnn_relu.data",
     "aten::rnn_relu.data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool has_biases, int "
     "num_layers, float dropout, bool train, bool bidirectional) -> (Tensor, Tensor)",
     C::kRecurrent, R::kNever, kDraws},
    {"aten.lstm_cell.default",
     "aten::lstm_cell(Tensor input, Tensor[] hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> "
     "(Tensor, Tensor)", C::kRecurrent},
    {"aten.gru_cell.default",
     "aten::gru_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> "
     "Tensor", C::kRecurrent},
    {"aten._thnn_differentiable_lstm_cell_backward.default",
     "aten::_thnn_differentiable_lstm_cell_backward(Tensor? grad_hy, Tensor? grad_cy, Tensor input_gates, Tensor "
     "hidden_gates, Tensor? input_bias, Tensor? hidden_bias, Tensor cx, Tensor cy) -> (Tensor, Tensor, Tensor, "
     "Tensor, Tensor)", C::kRecurrent},
};
// clang-format on

}  // namespace

std::span<const OpRow> recurrent_rows() { return kRows; }

}  // namespace sapwood::ops
