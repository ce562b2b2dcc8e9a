"""Hybrid guessing against the noise of silent VOLE (docs/expander.md): prints its table. Needs Python 3 and nothing else."""

from math import comb, inf, lgamma, log, log2

BLOCKS = 762


def log_binomial(n, k):
    return (lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)) / log(2)


def degree(per_block, checks, whole):
    """The first degree at which the Hilbert series is not positive.

    Whole values: (1 + (b - 1) z)^t (1 - z)^(checks - t). One slice, over GF(2): (1 + b z)^t / (1 + z)^checks.
    """
    c, exponent = (per_block - 1, checks - BLOCKS) if whole else (per_block, checks)
    left, right = [1], [1]
    for d in range(1, 90):
        left.append(left[-1] * (BLOCKS - d + 1) * c // d)
        right.append(-right[-1] * (exponent - d + 1 if whole else exponent + d - 1) // d)
        if sum(left[k] * right[d - k] for k in range(d + 1)) <= 0:
            return d
    return None


def cheapest(m, whole):
    """Guess that the first j positions of every block are zero, solve for the rest; the square of the columns is charged."""
    length, best = 2 * m // BLOCKS, (inf,)
    for j in sorted({length * i // 200 for i in range(101)} | {length // 2}):
        share = j / length
        guess = -BLOCKS * log2(1 - share if whole else 1 - share / 2)
        unknown = BLOCKS * (length - j) - m
        if unknown <= 0:
            d, columns = 1, log2(m)
        else:
            d = degree(length - j, m, whole)
            if d is None:
                continue
            columns = max(log2(m), log_binomial(unknown + d - 1, d) if whole else log_binomial(unknown, d))
        best = min(best, (guess + 2 * columns, share, d))
    return best


if __name__ == "__main__":
    print("| m | whole values | guessed share | degree | one slice | guessed share | degree |")
    print("|---|---|---|---|---|---|---|")
    for m in (3048, 1 << 14, 1 << 17, 1 << 20):
        cells = [f"2^{bits:.0f} | {share:.2f} | {d}" for bits, share, d in (cheapest(m, whole) for whole in (True, False))]
        print(f"| {m} | {cells[0]} | {cells[1]} |")
