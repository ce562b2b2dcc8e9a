"""Attacks on the LPN instances of `ot-ferret` (docs/parameters/ferret.md): prints its tables. Needs Python 3 and nothing else.

An instance has t blocks of 2^h positions with one error each, and k secret bits, of which each position adds d = 10.
"""

from math import inf, lgamma, log, log2

LOCALITY = 10
BLOCKS = 2520
SECRETS_PER_LEAF = 150  # k / 2^h


def log_binomial(n, k):
    if k < 0 or k > n:
        return -inf
    return (lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)) / log(2)


def least(low, high, holds):
    """The least number in the range for which it holds, if it holds from there on."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


def drawn(n, k, secrets):
    """Positions that add secret bits of a random set alone."""
    return n * (secrets / k) ** LOCALITY


def luckiest(n, k, secrets):
    """The same for the luckiest of all sets of that size, by a first moment; nobody says how to find it."""

    def is_rare(positions):
        expected = log_binomial(k, secrets) + log_binomial(n, positions)
        return expected + positions * LOCALITY * log2(secrets / k) < 0

    return least(int(drawn(n, k, secrets)), n, is_rare)


def guessing(n, k, t, within):
    """Information-set decoding in the smallest set of secrets that has as many positions as secrets.

    Guess that as many positions have p errors, half of them in either half; linear algebra is free, and each sum of p / 2
    positions is a step. The whole code is the case of all secrets, which is never the cheapest.
    """
    secrets = least(1, k, lambda secrets: secrets >= 2 * t and within(n, k, secrets) >= secrets)
    block, half = n / t, secrets / 2
    best = (inf,)
    for p in range(0, 12, 2):
        # Of t blocks, p lose an error among the positions that were chosen; regular noise has at most one a block.
        hit = secrets / t / block
        chance = log_binomial(t, p) + p * log2(hit) + (t - p) * log2(1 - hit)
        chance += 2 * log_binomial(p, p // 2) / 2 - p if p else 0
        steps = max(log2(secrets), log_binomial(int(half), p // 2))
        best = min(best, (steps - chance, p))
    return best[0], secrets / k, best[1]


def degree(per_block, checks, t, most):
    """The first degree at which the Hilbert series (1 + b z)^t / (1 + z)^checks over GF(2) is not positive [BO23]."""
    left, right = [1], [1]
    for d in range(1, most + 1):
        left.append(left[-1] * (t - d + 1) * per_block // d)
        right.append(-right[-1] * (checks + d - 1) // d)
        if sum(left[i] * right[d - i] for i in range(d + 1)) <= 0:
            return d
    return None


def algebraic(n, k, t, within):
    """Hybrid algebraic attacks [BO23] within sets of secrets: guess that a share of each block has no error, solve the rest at
    the degree that the series gives; the square of the number of columns is charged."""
    best = (inf,)
    for share in range(40, 101, 3):
        secrets = k * share // 100
        positions = n if share == 100 else int(within(n, k, secrets))
        if positions < secrets:
            continue
        for guessed in range(0, 100):
            left = positions / t * (1 - guessed / 100)
            # The blocks' sums are known for whole blocks alone.
            unknown = secrets - int(positions * guessed / 100) - (t if share == 100 else 0)
            guess = -t * log2(1 - guessed / 100 * positions / n)
            if unknown <= 0:
                best = min(best, (guess + 2 * log2(secrets), share, guessed, 1))
                break
            if guess >= best[0]:
                break
            b = int(left) - (share == 100)
            checks = positions - secrets
            d = degree(b, checks, t, 12)
            if d is not None:
                best = min(best, (guess + 2 * log_binomial(unknown, d), share, guessed, d))
    return best


def table(instances):
    print("| instance | n | k | t | drawn: share, bits | luckiest: share, bits | algebraic, drawn | algebraic, luckiest |")
    print("|---|---|---|---|---|---|---|---|")
    for name, n, k, t in instances:
        cells = []
        for within in (drawn, luckiest):
            bits, share, p = guessing(n, k, t, within)
            cells.append(f"{share:.3f}, {bits:.1f} (p = {p})")
        for within in (drawn, luckiest):
            bits, share, guessed, d = algebraic(n, k, t, within)
            cells.append(f"{bits:.0f} (share {share / 100:.2f}, guessed {guessed / 100:.2f}, degree {d})")
        print(f"| {name} | {n:,} | {k:,} | {t:,} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    table((f"2^{h}", BLOCKS << h, SECRETS_PER_LEAF << h, BLOCKS) for h in range(8, 13))
    print()
    table([("paper, set-up", 649728, 36288, 1269), ("paper, main", 10805248, 589760, 1319)])
