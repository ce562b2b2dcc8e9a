"""Attacks on the LPN instances of `ot-ferret` (docs/parameters/ferret.md): prints its tables. Needs Python 3 and nothing else.

An instance has t blocks of 2^h positions with one error each, and k secret bits, of which each position adds d = 10.
"""

import heapq
import random
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
    """The same for the luckiest of all sets of that size, by a first moment; peeling finds sets on the way to it."""

    def is_rare(positions):
        expected = log_binomial(k, secrets) + log_binomial(n, positions)
        return expected + positions * LOCALITY * log2(secrets / k) < 0

    return least(int(drawn(n, k, secrets)), n, is_rare)


def peeled(ratio, k=3000, seed=1):
    """The share of all secrets at which peeling ends: the secret that the fewest positions add is dropped, with these positions, until
    no more positions are left than secrets. It hardly depends on k."""
    draw = random.Random(seed)
    positions = [{draw.randrange(k) for _ in range(LOCALITY)} for _ in range(int(ratio * k))]
    adding = [set() for _ in range(k)]
    for place, secrets in enumerate(positions):
        for secret in secrets:
            adding[secret].add(place)
    queue = [(len(places), secret) for secret, places in enumerate(adding)]
    heapq.heapify(queue)
    left, alive = k, len(positions)
    gone = [False] * k
    smallest = 1.0
    while queue:
        degree, secret = heapq.heappop(queue)
        if gone[secret] or degree != len(adding[secret]):
            continue
        gone[secret] = True
        left -= 1
        for place in list(adding[secret]):
            alive -= 1
            for other in positions[place]:
                adding[other].discard(place)
                if not gone[other]:
                    heapq.heappush(queue, (len(adding[other]), other))
        if alive < left:
            return smallest
        smallest = left / k
    return smallest


def guessing(n, k, t, within):
    """Information-set decoding in the smallest set of secrets that has as many positions as secrets.

    Guess that as many positions have p errors, half of them in either half; linear algebra is free, and each sum of p / 2
    positions is a step. The whole code is the case of all secrets, which is never the cheapest.
    """
    secrets = least(1, k, lambda secrets: secrets >= 2 * t and within(n, k, secrets) >= secrets)
    return cost_of(n, t, secrets) + (secrets / k,)


def cost_of(n, t, secrets):
    """The same for a set of so many secrets that has as many positions: bits, and the cheapest p."""
    hit = secrets / n
    best = (inf, 0)
    for p in range(0, 12, 2):
        # Of t blocks, p lose an error among the positions that were chosen; regular noise has at most one a block.
        chance = log_binomial(t, p) + p * log2(hit) + (t - p) * log2(1 - hit)
        chance += 2 * log_binomial(p, p // 2) / 2 - p if p else 0
        steps = max(log2(secrets), log_binomial(int(secrets / 2), p // 2))
        best = min(best, (steps - chance, p))
    return best


def degree(blocks, checks, most):
    """The first degree at which the Hilbert series of blocks of several sizes, prod (1 + b z)^count / (1 + z)^checks over GF(2), is not
    positive [BO23]."""
    series = [1] + [0] * most
    factors = [[1] for _ in range(len(blocks) + 1)]
    for d in range(1, most + 1):
        for factor, (size, count) in zip(factors, blocks):
            factor.append(factor[-1] * (count - d + 1) * size // d)
        factors[-1].append(-factors[-1][-1] * (checks + d - 1) // d)
    for factor in factors:
        series = [sum(series[i] * factor[d - i] for i in range(d + 1)) for d in range(most + 1)]
    return next((d for d in range(1, most + 1) if series[d] <= 0), None)


def algebraic(n, k, t, within):
    """Hybrid algebraic attacks [BO23] within sets of secrets: guess that some positions of each block have no error, one more in some
    blocks than in others, and solve the rest at the degree that the series gives; the square of the number of columns is charged."""
    best = (inf,)
    for share in range(50, 101):
        secrets = k * share // 100
        positions = n if share == 100 else int(within(n, k, secrets))
        if positions < secrets:
            continue
        each, more = divmod(positions, t)
        # The blocks' sums are known for whole blocks alone.
        sums = share == 100
        for guessed in range(0, positions, max(t // 12, 1)):
            u, further = divmod(guessed, t)
            if u + 1 >= each:
                break
            guess = -(t - further) * log2(1 - u * t / n) - further * log2(1 - (u + 1) * t / n)
            unknown = secrets - guessed - (t if sums else 0)
            if unknown <= 0:
                best = min(best, (guess + 2 * log2(secrets), share, guessed / positions, "guess alone"))
                break
            if guess + 2 * log2(unknown) >= best[0]:
                continue
            # The further positions are guessed in the larger blocks first.
            blocks = [(each - u + 1, max(more - further, 0)), (each - u - 1, max(further - more, 0))]
            blocks.append((each - u, t - sum(count for _, count in blocks)))
            blocks = [(size - sums, count) for size, count in blocks if count and size > sums]
            d = degree(blocks, positions - secrets, 12)
            if d is not None:
                best = min(best, (guess + 2 * log_binomial(unknown, d), share, guessed / positions, d))
    return best


def table(instances):
    print("| instance | n | k | t | drawn: share, bits | peeled: share, bits | luckiest: share, bits | algebraic, drawn | algebraic, luckiest |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, n, k, t in instances:
        cells = []
        for within in (drawn, luckiest):
            bits, p, share = guessing(n, k, t, within)
            cells.append(f"{share:.3f}, {bits:.1f} (p = {p})")
        share = peeled(n / k)
        bits, p = cost_of(n, t, int(share * k))
        cells.insert(1, f"{share:.3f}, {bits:.1f} (p = {p})")
        for within in (drawn, luckiest):
            bits, share, guessed, d = algebraic(n, k, t, within)
            cells.append(f"{bits:.0f} (share {share / 100:.2f}, guessed {guessed:.2f}, degree {d})")
        print(f"| {name} | {n:,} | {k:,} | {t:,} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    table((f"2^{h}", BLOCKS << h, SECRETS_PER_LEAF << h, BLOCKS) for h in range(8, 13))
    print()
    table([("paper, set-up", 649728, 36288, 1269), ("paper, main", 10805248, 589760, 1319)])
    for name, n, k, t in [("paper, main", 10805248, 589760, 1319)]:
        for what, share in [("drawn", (k / n) ** (1 / 9)), ("peeled", peeled(n / k)), ("luckiest", guessing(n, k, t, luckiest)[2])]:
            print(f"{name}, a guess that as many positions as secrets have no error, {what}: 2^{t * log2(1 - share * k / n):.1f}")
