"""The median of many series."""

from __future__ import annotations

import warnings

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from selfclock.traces import percentiles


@given(arrays(np.float64, array_shapes(min_dims=2, max_dims=2), elements=st.floats(-1e6, 1e6) | st.just(np.nan)))
def test_percentiles_are_those_of_numpy(series: np.ndarray) -> None:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="All-NaN")
        expected = np.nanpercentile(series, (10, 50, 90), axis=0)
    np.testing.assert_allclose(percentiles(list(series), (10, 50, 90)), expected, rtol=1e-9, atol=1e-6)
