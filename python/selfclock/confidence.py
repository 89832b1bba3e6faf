"""Student's t distribution, without which intervals from few repetitions would be too narrow."""

from __future__ import annotations

import functools
import math

#: An iteration ends when relative changes fall below this.
_PRECISION = 1e-14


def half_width(deviation: float, count: int, confidence: float) -> float | None:
    """Return half the width of the confidence interval of a mean; none for fewer than two values.

    `deviation` is the standard deviation of the values, with one less than their number as divisor.

    >>> round(half_width(1.0, 3, 0.95), 3)
    2.484
    """
    return None if count < 2 else quantile(confidence, count - 1) * deviation / math.sqrt(count)


@functools.cache
def quantile(confidence: float, degrees: int) -> float:
    """Return the t that |T| stays below with this probability, for these degrees of freedom."""
    beyond = 1 - confidence
    high = 1.0
    while outside(high, degrees) > beyond:
        high *= 2
    low = 0.0
    while high - low > _PRECISION * high:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if outside(middle, degrees) > beyond else (low, middle)
    return (low + high) / 2


def outside(t: float, degrees: int) -> float:
    """Return the probability of |T| > t: the regularized incomplete beta function at n / (n + t^2)."""
    a, b = degrees / 2, 0.5
    x, y = degrees / (degrees + t * t), t * t / (degrees + t * t)
    if y == 0.0:
        return 1.0
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log(y))
    # Each of the two forms converges fast on its side of the mean.
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(a, b, x) / a
    return 1 - front * _fraction(b, a, y) / b


def _fraction(a: float, b: float, x: float) -> float:
    """Continued fraction of the incomplete beta function (NIST DLMF 8.17.22), evaluated from its tail.

    The number of terms grows with the root of the larger parameter; 200 more give all digits.
    """
    value = 1.0
    for term in range(200 + 4 * math.isqrt(int(max(a, b))), 0, -1):
        m = term // 2
        if term % 2 == 0:
            part = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        else:
            part = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        value = 1 + part / value
    return 1 / value
