"""Waiting times that are drawn alike on every machine."""

from random import Random


def exponential(random: Random, mean_s: float) -> float:
    """An exponentially distributed time, by comparisons alone (von Neumann's way).

    `Random.expovariate` takes a logarithm, and its last bit differs between the C libraries of machines.
    """
    whole = 0
    while True:
        first = lowest = random.random()
        falls = 0
        while (following := random.random()) < lowest:
            lowest, falls = following, falls + 1
        if falls % 2 == 0:
            return (whole + first) * mean_s
        whole += 1
