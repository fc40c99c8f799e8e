"""One step of training: trunk, learner, losses, optimiser.

On a GPU it is recorded once and replayed, since launching its many small kernels from Python takes longer than they
take; elsewhere it runs as it is written, and so it does among several processes.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.utils import clip_grad_norm_
from torch.optim import Optimizer

from firstsight.encode.devices import mixed_precision
from firstsight.encode.learner import Learner
from firstsight.train.processes import group
from firstsight.train.sharing import mean_gradients, whole_batch
from firstsight.train.support import Support, seeded

WARM_UP = 3  # steps before recording, in which libraries choose their kernels


class Step:
    """Calling it with a batch trains on it; `sums` collects every loss term over an epoch."""

    def __init__(self, learner: Learner, support: Support, optimiser: Optimizer) -> None:
        self.learner = learner
        self.support = support
        self.optimiser = optimiser
        self.device = support.encoder.device
        self.masks = torch.Generator(self.device)
        self.sums: dict[str, Tensor] = {}
        self.graph: torch.cuda.CUDAGraph | None = None
        self.taken = 0

    def begin(self, epoch: int) -> None:
        """Reset what belongs to an epoch."""
        settings = self.learner.settings
        self.masks.manual_seed(seeded("cpu", settings.seed, "masks", epoch).initial_seed())
        for value in self.sums.values():
            value.zero_()
        self.learner.train()

    def __call__(self, indices: Tensor, draws: Tensor) -> None:
        whole = len(indices) == min(self.learner.settings.batch_size, len(self.support.taught))
        alone = group().count == 1
        if not (alone and self.support.replayable and self.learner.recordable and whole):
            self._run(indices, draws)
            return
        if self.graph is None and self.taken < WARM_UP:
            aside = torch.cuda.Stream()  # type: ignore[no-untyped-call]
            aside.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(aside):
                self._run(indices, draws)
            torch.cuda.current_stream().wait_stream(aside)
            self.taken += 1
            return
        if self.graph is None:
            self._record(indices, draws)
        assert self.graph is not None
        self.indices.copy_(indices)
        self.draws.copy_(draws)
        self.graph.replay()

    def _record(self, indices: Tensor, draws: Tensor) -> None:
        self.indices, self.draws = indices.clone(), draws.clone()
        self.graph = torch.cuda.CUDAGraph()
        self.graph.register_generator_state(self.masks)
        self.optimiser.zero_grad(set_to_none=True)
        with torch.cuda.graph(self.graph):
            self._run(self.indices, self.draws)

    def _run(self, indices: Tensor, draws: Tensor) -> None:
        settings = self.learner.settings
        stem, labels = self.support.batch(indices, draws)
        with mixed_precision(self.device, settings.precision), whole_batch(self.learner, len(labels)):
            outputs = self.learner(stem)  # of PHE: z, b, h
        terms = self.learner.losses(outputs, labels, self.masks)  # of PHE: Eq. 1-10

        self.optimiser.zero_grad(set_to_none=True)
        terms["total"].backward()  # type: ignore[no-untyped-call]
        mean_gradients(self.learner.parameters())
        if settings.clip:
            clip_grad_norm_(self.learner.parameters(), settings.clip)
        self.optimiser.step()
        for name, value in terms.items():
            if name not in self.sums:
                self.sums[name] = torch.zeros((), device=self.device)
            self.sums[name].add_(value.detach(), alpha=len(indices))
