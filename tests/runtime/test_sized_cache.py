"""A cache that is limited by the size of its results."""

from motif.runtime.sized_cache import kept_within


def counted_cache(most: int):
    made: list[int] = []

    @kept_within(most, len)
    def zeros(size: int) -> bytes:
        made.append(size)
        return bytes(size)

    return zeros, made


def test_recent_results_are_kept_up_to_a_number_of_bytes():
    zeros, made = counted_cache(10)
    for size in (4, 5, 4, 3, 4, 5):
        assert len(zeros(size)) == size
    assert made == [4, 5, 3, 5]


def test_a_result_above_the_limit_is_kept_alone():
    zeros, made = counted_cache(10)
    for size in (4, 20, 20, 4, 20):
        zeros(size)
    assert made == [4, 20, 4, 20]
