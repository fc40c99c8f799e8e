"""A batch shared out among processes, and made whole again where it matters.

Every process takes its share of a batch through the backbone. What that makes is gathered, and from there on all
processes do the same with the whole batch: heads, BatchNorm, masks and losses, whatever a method has of them. So a
step is that of one process, but for the backbone's work, and a contrastive loss or a statistic of the batch needs
no form of its own for several. Where there is one process, nothing here does anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, distributed, nn

from firstsight.core.errors import ModelError
from firstsight.encode.learner import Learner
from firstsight.train.processes import group, others_may_die


def share(items: Tensor) -> Tensor:
    """This process's part of the items, as many for each process: where they do not go round, the last comes again."""
    if group().count == 1:
        return items
    each = -(-len(items) // group().count)
    places = torch.arange(each, device=items.device) + group().rank * each
    return items[places.clamp_max(len(items) - 1)]


def gathered(own: Tensor, total: int) -> Tensor:
    """Everyone's share of so many items, in their order; gradients go back to whose share it was."""
    if group().count == 1:
        return own
    whole: Tensor = _Gathered.apply(own, total)
    return whole


def shared_out(function: Callable[[Tensor], Tensor], items: Tensor) -> Tensor:
    """What a function makes of items, one each; every process calls it for its share."""
    return gathered(function(share(items)), len(items))


@contextmanager
def whole_batch(learner: Learner, total: int) -> Iterator[None]:
    """Within this, what a learner's tail makes of a share of so many items comes out as that of all of them."""
    if group().count == 1:
        yield
        return
    calls = 0

    def gather(module: nn.Module, given: Any, made: Tensor) -> Tensor:
        nonlocal calls
        calls += 1
        return gathered(made, total)

    hook = learner.tail.register_forward_hook(gather)
    try:
        yield
    finally:
        hook.remove()
    if calls != 1:
        raise ModelError(
            f"{type(learner).__name__} goes through its tail {calls} times in a step; several processes need once",
            "call self.tail(stem) once in its forward, or train it by one process",
        )


def mean_gradients(parameters: Iterable[nn.Parameter]) -> None:
    """Every gradient the mean of what the processes found: the same bits for all, so that weights stay the same."""
    if group().count == 1:
        return
    gradients = [each.grad for each in parameters if each.grad is not None]
    flat = torch.cat([gradient.flatten() for gradient in gradients])
    with others_may_die():
        distributed.all_reduce(flat)
    flat /= group().count
    parts = torch.split(flat, [gradient.numel() for gradient in gradients])
    torch._foreach_copy_(gradients, [part.view_as(g) for part, g in zip(parts, gradients, strict=True)])


@torch.no_grad()
def alike(module: nn.Module) -> None:
    """The first process's weights for all."""
    if group().count > 1:
        for tensor in module.state_dict().values():
            values = tensor.contiguous()
            with others_may_die():
                distributed.broadcast(values, src=0)
            tensor.copy_(values)


class _Gathered(torch.autograd.Function):
    """All shares one after the other.

    All processes make the same loss of it, so each has the whole gradient and need not ask the others for theirs. It
    takes its own share of it, times the number of processes, of which `mean_gradients` takes the mean.
    """

    @staticmethod
    def forward(ctx: Any, own: Tensor, total: int) -> Tensor:
        ctx.each = len(own)
        laid = own.movedim(1, -1).contiguous() if own.ndim == 4 else own.contiguous()  # channels last in memory
        whole = laid.new_empty(group().count * len(laid), *laid.shape[1:])
        with others_may_die():
            distributed.all_gather_into_tensor(whole, laid)
        whole = whole[:total].clone() if total < len(whole) else whole
        return whole.movedim(-1, 1) if own.ndim == 4 else whole

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        start = group().rank * ctx.each
        own = gradient[start : start + ctx.each] * group().count
        return torch.cat([own, own.new_zeros(ctx.each - len(own), *own.shape[1:])]), None
