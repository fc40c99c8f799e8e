"""Images in, answers out: read by threads, encoded as they come together, recorded by one writer.

An image alone is encoded at once; those that wait by then go together. While a group is recorded, the next is encoded.
Images of one request keep their order; requests do not wait for each other's pictures. What is only asked, and not
recorded, never waits for a disk or another machine that records.
"""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from threading import Condition, Thread
from typing import TypeAlias

from firstsight.core.assignments import Assignment
from firstsight.core.errors import FirstsightError, ImageError
from firstsight.core.threads import cores
from firstsight.discoverer import Given, Prepared, PreparedOrError

Answer: TypeAlias = "Future[Assignment]"
Prepare: TypeAlias = Callable[[Given], Prepared]
Encode: TypeAlias = Callable[[Sequence[PreparedOrError]], list[PreparedOrError]]
Decide: TypeAlias = Callable[[list[Prepared]], Sequence[Assignment | FirstsightError]]

_Groups: TypeAlias = "queue.SimpleQueue[list[Job] | None]"
READERS = 2  # a core: as many wait for the disk to keep a picture as decode one


class Busy(FirstsightError):
    """As much is waiting as may wait, or the service is ending: to be asked again in a while."""

    def __init__(self, what: str, seconds: int = 1) -> None:
        super().__init__(what, f"try again in {seconds} s")
        self.seconds = seconds


@dataclass(eq=False)
class Job:
    """One image on its way, and what answers it."""

    decide: Decide
    pure: bool = False  # whether nothing is recorded
    answer: Answer = field(default_factory=Future)
    prepared: Prepared | None = None


class Worker:
    """Threads that answer images; `submit` from any thread, `close` answers what was accepted."""

    def __init__(self, encode: Encode, batch: int, limit: int) -> None:
        self.encode, self.batch, self.limit = encode, batch, limit
        self._waiting = 0  # accepted and not answered
        self._changed = Condition()
        self._closed = False
        self._readers = ThreadPoolExecutor(READERS * cores(), thread_name_prefix="reading")
        self._encoding: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._recording: _Groups = queue.SimpleQueue()
        self._matching: _Groups = queue.SimpleQueue()
        self._threads = [Thread(target=self._encode, name="encoding")]
        for name, groups in (("recording", self._recording), ("matching", self._matching)):
            self._threads.append(Thread(target=_decide, args=(groups,), name=name))
        for thread in self._threads:
            thread.start()

    @property
    def waiting(self) -> int:
        """How many images are accepted and not answered yet."""
        return self._waiting

    def submit(
        self, images: Sequence[Given], prepare: Sequence[Prepare], decide: Decide, pure: bool = False
    ) -> list[Answer]:
        """Answers to come, in order; `Busy` where there is no room for all of them. An image's error is its own.

        `prepare` reads each of them, in any thread. All that are given the same `decide` may be decided together.
        What is `pure` records nothing.
        """
        with self._changed:
            if self._closed:
                raise Busy("the service is ending", 5)
            if self._waiting + len(images) > self.limit:
                raise Busy(f"{self._waiting} images are waiting, and {self.limit} may", 1 + self._waiting // 50)
            self._waiting += len(images)
        jobs = [Job(decide, pure) for _ in images]
        for job in jobs:
            job.answer.set_running_or_notify_cancel()  # what is accepted is answered, whoever has gone away
        in_order = _InOrder(jobs, self._encoding.put)
        for i, image in enumerate(images):
            jobs[i].answer.add_done_callback(self._answered)
            self._readers.submit(_read, prepare[i], image, jobs[i]).add_done_callback(partial(in_order.done, i))
        return [job.answer for job in jobs]

    def close(self) -> None:
        """Take nothing more, answer what was accepted, and end."""
        with self._changed:
            self._closed = True
            self._changed.wait_for(lambda: self._waiting == 0)
        self._readers.shutdown()
        self._encoding.put(None)
        for thread in self._threads:
            thread.join()

    def _answered(self, answer: Answer) -> None:
        with self._changed:
            self._waiting -= 1
            self._changed.notify_all()

    def _encode(self) -> None:
        while (first := self._encoding.get()) is not None:
            group = [first, *_there(self._encoding, self.batch - 1)]
            ready = _encoded(self.encode, group)
            for groups, pure in ((self._recording, False), (self._matching, True)):
                if some := [job for job in ready if job.pure == pure]:
                    groups.put(some)
        for groups in (self._recording, self._matching):
            groups.put(None)


def _decide(groups: _Groups) -> None:
    while (group := groups.get()) is not None:
        for some in _alike(group):
            with _told(some):
                answers = some[0].decide([job.prepared for job in some if job.prepared is not None])
                for job, answer in zip(some, answers, strict=True):
                    if isinstance(answer, FirstsightError):
                        job.answer.set_exception(answer)
                    else:
                        job.answer.set_result(answer)


class _InOrder:
    """The images of one request, handed on in their order though they are read in any."""

    def __init__(self, jobs: Sequence[Job], hand_on: Callable[[Job], None]) -> None:
        self._jobs, self._hand_on = jobs, hand_on
        self._done: set[int] = set()
        self._next = 0
        self._turn = Condition()

    def done(self, i: int, _: Future[None]) -> None:
        with self._turn:
            self._done.add(i)
            while self._next in self._done:
                if (job := self._jobs[self._next]).prepared is not None:  # else it has its error already
                    self._hand_on(job)
                self._next += 1


def _read(prepare: Prepare, image: Given, job: Job) -> None:
    with _told([job]):
        job.prepared = prepare(image)


def _encoded(encode: Encode, jobs: Sequence[Job]) -> list[Job]:
    """Those whose images have features by now; the others have their errors."""
    with _told(jobs):
        for job, each in zip(jobs, encode([job.prepared for job in jobs if job.prepared is not None]), strict=True):
            if isinstance(each, ImageError):
                job.answer.set_exception(each)
            else:
                job.prepared = each
    return [job for job in jobs if not job.answer.done()]


@contextmanager
def _told(jobs: Sequence[Job]) -> Iterator[None]:
    """What goes wrong is the answer of those that have none yet, and no thread ends of it."""
    try:
        yield
    except BaseException as error:
        for job in jobs:
            if not job.answer.done():
                job.answer.set_exception(error)


def _there(waiting: queue.SimpleQueue[Job | None], limit: int) -> Iterator[Job]:
    """What waits by now, at most so many."""
    for _ in range(limit):
        try:
            job = waiting.get_nowait()
        except queue.Empty:
            return
        if job is None:  # the end, which is to be found again
            waiting.put(None)
            return
        yield job


def _alike(group: Sequence[Job]) -> list[list[Job]]:
    """Neighbours that are answered in the same way."""
    return [list(some) for _, some in groupby(group, key=lambda job: job.decide)]
