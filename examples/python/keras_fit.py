#!/usr/bin/env python3
"""Osler in a Keras training, on any back end: keras_fit.py [RATE]."""

import sys

import keras
import numpy

from osler.keras import OslerCallback

rate = float(sys.argv[1]) if len(sys.argv) > 1 else 0.1
keras.utils.set_random_seed(0)
random = numpy.random.default_rng(0)
x = random.normal(size=(1024, 10)).astype("float32")
y = (x @ random.normal(size=(10, 3))).argmax(1)

model = keras.Sequential([keras.layers.Dense(64, activation="relu"), keras.layers.Dense(3)])
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile(optimizer=keras.optimizers.SGD(rate), loss=loss, metrics=["accuracy"])
callback = OslerCallback()
model.fit(x, y, epochs=15, batch_size=32, validation_split=0.25, verbose=0, callbacks=[callback])
print(callback.report)
