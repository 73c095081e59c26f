// Any training output: the general text reader.
#include "formats/text/text_reader.h"
#include "osler/formats/format.h"

namespace osler::catalogue {

Format text() {
  return {
      .id = "text",
      .title = "Training output",
      .doc = R"(Whatever a training prints: the output of `python train.py`, a `.log` file, a job's `.out` file, a pipe.

No tool needs a parser of its own. Each line is taken apart into numbers and the text around them; lines that differ in
nothing but their numbers have the same shape, and what the numbers of a shape mean is worked out once.

**Names.** The words before a number name it: `loss: 0.3`, `loss=0.3`, `loss 0.3`, `[loss] 0.3`, `'loss': 0.3`,
`"loss": "0.3"`. In `Loss 2.1 (2.3)` the second number becomes `Loss (avg)`; in `lr=[1e-3, 1e-4]` the later ones become
`lr.1` and so on; `Accuracy: 98/100` is 0.98. A rate that has its name behind it (`1.8it/s`, `724 words/s`) is called by
its unit; in front it may have blanks around its slash (`Tokens / Sec: 1252`); in a line that counts, figures of merit may all have their names behind them (`0.98 loss, 94.3% accuracy`). `train`, `[valid]`, `DEV :` before a figure of merit become part of its name (`valid/loss`), and so does an
evaluation announced by a heading on a line of its own. The same name in lines per step and in lines per epoch makes two
series, the later one with ` (epoch)` or ` (step)` behind its name.

**Steps.** `step`, `iter`, `global_step`, `num_updates`, ... place a line; so do `Epoch [3/10], Step [100/600]`,
`Epoch: [3][100/600]`, progress bars, and a bare number in front (`[10] train-auc: 0.9`). A counter that starts again in
each epoch is continued. `Average Reward after 4 episodes: 168.7` counts by its 4. Where an agent's rewards are logged, `steps` that go up
and down are the lengths of episodes: the episode is the step, else the lines are counted. Lines that tell of data being
made ready (`Tokenizing 100/2000`) count nothing. A lone `Batch = 100` counts once it rises. Where only epochs are counted they are the steps. A line without counter stands where the line
before it stood; a dictionary that a trainer prints between states of its bar stands where the bar was cleared for it, even
if it comes out of a buffer later. When the steps go back, training was restarted. When two processes write into one file alternately,
the second one's series end with ` #2`. A
heading such as `Fold 2/5` or `Training layer 2` becomes a note; where nothing counts, the lines are counted anew from there.

**What counts as a series.** Losses, accuracies and other figures of merit at once, and everything beside them in a line
that counts; other numbers when they came again and changed, or stay 0 beside a counter. Settings printed before training (`learning_rate: 0.001`,
`--batch_size 32`, `Namespace(...)`) become the run's configuration.

**Tried on** the output of Axolotl, Caffe, CatBoost, DeepSpeed, Detectron2, fairseq, fastai, Hugging Face's Trainer, Keras,
Lightning, LLaMA-Factory, llm.c, Marian, Megatron-LM, mmdetection, mmengine, nanoGPT, NeMo, OpenNMT, skorch, stable-baselines3, Swin,
torchtune, Ultralytics and PyTorch's examples; none of them needs more than this reader.

**Survives** progress bars with thousands of carriage returns (the last state of each step counts; of Keras bars the
last state of each epoch), colour codes, CR, CR LF and LF, UTF-8, UTF-16 with byte order mark and bytes of any other
encoding, source code before the log, tables (`| key | value |` blocks, columns under a header), `nan`, `inf`,
`-nan(ind)`, `1,234.5`, decimal commas (`0,693`), `第3轮` for epoch 3, holes of NUL bytes, lines up to 1 MiB. A date in front of a line becomes the time of its numbers; it is taken for
UTC where no zone is said. A Python traceback, the end by a scheduler or a signal, and NCCL's watchdog become marks. Numbers
in `tensor(1.9, device='cuda:0')` are read; NUL bytes at the start, left by a truncated file, are passed over.
)",
      .refines = "",
      .sniff = osler::text::sniff_text,
      .open = [](const std::filesystem::path&) -> std::unique_ptr<Reader> {
        return std::make_unique<osler::text::TextReader>();
      },
      .run_of = [](const std::filesystem::path& path) { return path; },
  };
}

}  // namespace osler::catalogue
