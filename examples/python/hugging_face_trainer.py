#!/usr/bin/env python3
"""Osler in a Hugging Face training of a small GPT-2: hugging_face_trainer.py [RATE]."""

import sys
import tempfile

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

from osler.transformers import OslerCallback

RATE = float(sys.argv[1]) if len(sys.argv) > 1 else 3e-3


class Counting(torch.utils.data.Dataset):
    """Sequences that count in steps of one to five."""

    def __len__(self):
        return 512

    def __getitem__(self, index):
        ids = (torch.arange(16) * (index % 5 + 1) + index) % 40
        return {"input_ids": ids, "labels": ids}


torch.manual_seed(0)
model = GPT2LMHeadModel(GPT2Config(vocab_size=40, n_positions=16, n_embd=16, n_layer=2, n_head=2))
callback = OslerCallback()
with tempfile.TemporaryDirectory() as folder:
    arguments = TrainingArguments(
        folder, per_device_train_batch_size=16, num_train_epochs=4, learning_rate=RATE, logging_steps=1, report_to=[],
        save_strategy="no", use_cpu=True, disable_tqdm=True,
    )
    Trainer(model=model, args=arguments, train_dataset=Counting(), callbacks=[callback]).train()
print(callback.report)
