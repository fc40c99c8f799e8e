"""What it gains to decide the images of a burst together, on a stream of simulated bursts.

    python reproductions/bursts.py --data pets --root pets.tar --backbone efficientnet-lite2 --images 220 --frames 5

No query is read: of the support set's categories a half is taught and a half plays new ones. Photographs of both that
taught nothing each become a burst, as a camera trap takes one of an animal that passes: in every frame another part of
the photograph is seen, nearer or farther; some are blurred by the movement, all have some noise. The frames are encoded
once. Then bursts arrive in random orders, and their frames are decided one by one, or together.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFilter

from firstsight.core.accuracy import strict_accuracy
from firstsight.core.protocols import Register
from firstsight.core.threads import one_thread
from firstsight.data.benchmarks import open_data, split_of
from firstsight.data.images import ImageLike, decode
from firstsight.encode.many import encode_many
from firstsight.evaluate.orders import random_orders
from firstsight.methods.settings import settings
from firstsight.methods.simulation import simulated
from firstsight.register.together import decide
from firstsight.train.fit import fit_images

BLURRED = 0.4  # of the frames
TEACHING = 0.5  # of a known category's images; the others arrive

Codes = NDArray[Any]


def burst(image: ImageLike, frames: int, generator: np.random.Generator) -> list[Image.Image]:
    """An animal that passes: the light is that of the moment, every frame sees another part of it, some are blurred."""
    picture, light = decode(image), generator.uniform(0.7, 1.15)
    return [_frame(picture, light, generator) for _ in range(frames)]


def _frame(picture: Image.Image, light: float, generator: np.random.Generator) -> Image.Image:
    share = generator.uniform(0.5, 1.0)
    size = [max(8, int(side * share)) for side in picture.size]
    left, top = (int(generator.uniform(0, whole - part)) for whole, part in zip(picture.size, size, strict=True))
    part = picture.crop((left, top, left + size[0], top + size[1]))
    if generator.random() < BLURRED:
        part = part.filter(ImageFilter.BoxBlur((generator.uniform(0, 0.03) * size[0], 0)))  # it moves sideways
    pixels = np.asarray(part, dtype=np.float32) * light
    noisy = pixels + generator.normal(0, generator.uniform(0, 8), pixels.shape)
    return Image.fromarray(noisy.clip(0, 255).astype(np.uint8))


def one_by_one(register: Register, bursts: Sequence[Codes]) -> list[str]:
    return [str(register.assign(each).category) for burst in bursts for each in burst]


def together(register: Register, bursts: Sequence[Codes]) -> list[str]:
    return [str(answer.category) for burst in bursts for answer in decide(register, list(burst)).answers]


@one_thread()
def scored(start: Callable[[], Register], answer: Any, features: Codes, truth: Sequence[str], orders: int) -> list[str]:
    """Accuracy in per cent, All, Old and New, and how many categories were found; mean and deviation over orders."""
    found = []
    for order in random_orders(len(features), orders):
        register = start()
        known = register.names[: register.known]
        names = answer(register, features[order])
        labels = np.repeat(np.array(truth)[order], features.shape[1])
        right = strict_accuracy(labels, np.array(names), np.isin(labels, known))
        found.append([100 * right.all, 100 * right.old, 100 * right.new, len(set(names))])
    return [f"{mean:.1f} ± {off:.1f}" for mean, off in zip(np.mean(found, 0), np.std(found, 0), strict=True)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, help="a benchmark's name, such as pets")
    parser.add_argument("--root", type=Path, required=True, help="its download, or a pack of it")
    parser.add_argument("--backbone", default="efficientnet-lite2")
    parser.add_argument("--images", type=int, default=400, help="photographs that become bursts")
    parser.add_argument("--frames", type=int, default=5, help="of a burst")
    parser.add_argument("--orders", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="auto")
    options = parser.parse_args()
    of, data = open_data(options.data, options.root)
    support, _ = split_of(of, data).apply(data)
    generator, labels = np.random.default_rng(options.seed), np.array(support.labels)
    shuffled = generator.permutation(np.unique(labels))
    known, new = shuffled[: len(shuffled) // 2], shuffled[len(shuffled) // 2 :]
    stream = simulated(labels, new, generator, TEACHING)
    chosen: Any = settings("firstsight", backbone=options.backbone)
    model = fit_images(support.select(stream.teaching.tolist(), sorted(known.tolist())), chosen, options.device)
    taken = stream.arriving[: options.images]
    frames = [each for i in taken for each in burst(support.images[i], options.frames, generator)]
    features = model.transform(encode_many(model, frames))
    bursts = features.reshape(len(taken), options.frames, *features.shape[1:])
    truth = [support.categories[support.labels[i]] for i in taken]
    what = f"{len(taken)} bursts of {options.frames} frames, {len(known)} known categories and {len(new)} new ones"
    print(f"{of.title}: {what}, seed {options.seed}\n")
    print("| frames are decided | All | Old | New | categories found |")
    print("|---|---|---|---|---|")
    for name, answer in (("one by one", one_by_one), ("together", together)):
        print(f"| {name} | {' | '.join(scored(model.register, answer, bursts, truth, options.orders))} |", flush=True)


if __name__ == "__main__":
    main()
