"""Which query comes when, on which data: the thesis' workloads (HFSP thesis, Table 5.1), scaled to a cluster of eight containers."""

import random
from dataclasses import dataclass

QUERIES = tuple(f"L{number}" for number in range(1, 18))


@dataclass(frozen=True)
class Mix:
    """A workload."""

    about: str
    shares: dict  #: of the queries, by bin
    queries: int
    between_s: float  #: mean time between arrivals


#: Times and numbers of queries are for a load of 0.8 on two cores.
MIXES = {
    "dev": Mix("DEV: two queries in three on the smallest data", {1: 0.65, 2: 0.2, 3: 0.1, 4: 0.05}, 45, 14),
    "test": Mix("TEST", {1: 0.3, 2: 0.4, 3: 0.1, 4: 0.2}, 30, 20),
    "prod": Mix("PROD: nothing on the smallest data", {2: 0.1, 3: 0.6, 4: 0.3}, 22, 29),
    "each": Mix("each query once, on the three smaller bins: to see that all are right", {1: 1 / 3, 2: 1 / 3, 3: 1 / 3}, 17, 20),
}


@dataclass(frozen=True)
class Drawn:
    """A query of a workload."""

    name: str
    query: str
    bin: int
    at_s: float


def draw(mix, queries, count, between_s, seed):
    """So many queries of these: each as often as the others, up to one; bins in exactly the mix's shares; Poisson arrivals."""
    random_of = random.Random(f"{mix.about} {seed}")
    chosen = []
    while len(chosen) < count:
        chosen += random_of.sample(queries, len(queries))
    bins = _exactly(mix.shares, count)
    random_of.shuffle(bins)
    drawn, at_s = [], 0.0
    for number, (query, bin_number) in enumerate(zip(chosen, bins)):
        drawn.append(Drawn(f"query-{number:02}-{query.lower()}-bin{bin_number}", query, bin_number, round(at_s, 2)))
        at_s += random_of.expovariate(1 / between_s)
    return drawn


def _exactly(shares, count):
    """So many bins, in these shares: what is left after rounding down goes to the largest remainders."""
    whole = {number: int(share * count) for number, share in shares.items()}
    by_remainder = sorted(shares, key=lambda number: whole[number] - shares[number] * count)
    for number in by_remainder[:count - sum(whole.values())]:
        whole[number] += 1
    return [number for number, many in whole.items() for _ in range(many)]
