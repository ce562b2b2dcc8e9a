"""The code of docs/expander.md, written from its text alone: prints the test vectors. Needs Python 3 and nothing else; slow on purpose."""

MASK = (1 << 128) - 1


def aes_tables():
    box, p, q = [0x63] * 256, 1, 1
    while True:
        p = p ^ (p << 1) & 0xFF ^ (0x1B if p & 0x80 else 0)
        for shift in (1, 2, 4):
            q ^= q << shift & 0xFF
        q ^= 0x09 if q & 0x80 else 0
        rotated = q
        for shift in (1, 2, 3, 4):
            rotated ^= (q << shift | q >> (8 - shift)) & 0xFF
        box[p] = rotated ^ 0x63
        if p == 1:
            return box


BOX = aes_tables()


def double(byte):
    return byte << 1 & 0xFF ^ (0x1B if byte & 0x80 else 0)


class Aes:
    """AES-128 (FIPS 197). Keys and blocks are numbers, their first byte the least significant."""

    def __init__(self, key):
        words, constant = [list(key.to_bytes(16, "little")[i : i + 4]) for i in range(0, 16, 4)], 1
        for i in range(4, 44):
            word = words[-1]
            if i % 4 == 0:
                word = [BOX[byte] for byte in word[1:] + word[:1]]
                word[0] ^= constant
                constant = double(constant)
            words.append([a ^ b for a, b in zip(words[i - 4], word)])
        self.keys = [sum(words[i : i + 4], []) for i in range(0, 44, 4)]

    def encrypt(self, block):
        state = [a ^ b for a, b in zip((block & MASK).to_bytes(16, "little"), self.keys[0])]
        for turn in range(1, 11):
            state = [BOX[state[(i + 4 * (i % 4)) % 16]] for i in range(16)]
            if turn < 10:
                mixed = []
                for column in range(0, 16, 4):
                    c = state[column : column + 4]
                    for i in range(4):
                        mixed.append(double(c[i] ^ c[(i + 1) % 4]) ^ c[(i + 1) % 4] ^ c[(i + 2) % 4] ^ c[(i + 3) % 4])
                state = mixed
            state = [a ^ b for a, b in zip(state, self.keys[turn])]
        return int.from_bytes(bytes(state), "little")


def word(aes, start, number):
    """The 32-bit word of this number in the stream that starts at block `start`."""
    return aes.encrypt(start + number // 4) >> 32 * (number % 4) & 0xFFFFFFFF


ORDERS = [o for o in ([c & 3, c >> 2 & 3, c >> 4 & 3, c >> 6] for c in range(256)) if sorted(o) == [0, 1, 2, 3]]


def compress(x, outputs, weight, seed):
    aes, y, positions = Aes(seed), list(x), len(x)
    for i in range(positions):
        taps = word(aes, 0, i) & 0xFFFFFF | 1 << 23
        for d in range(1, 25):
            if taps >> (d - 1) & 1 and i + d < positions:
                y[i + d] ^= y[i]
    out = [0] * outputs
    for s in range(weight):
        start, end = (4 * (k * (positions // 4) // weight) for k in (s, s + 1))
        lines = (end - start) // 4
        for group in range((outputs + 3) // 4):
            product = word(aes, (s + 1) << 64, group) * lines
            line, order = product >> 32, ORDERS[(product & 0xFFFFFFFF) * 24 >> 32]
            for j in range(min(4, outputs - 4 * group)):
                out[4 * group + j] ^= y[start + 4 * line + order[j]]
    return out


if __name__ == "__main__":
    assert Aes(0x0F0E0D0C0B0A09080706050403020100).encrypt(0xFFEEDDCCBBAA99887766554433221100) == int.from_bytes(
        bytes.fromhex("69c4e0d86a7b0430d8cdb78070b4c55a"), "little"
    )
    for outputs, positions, weight, seed in [(40, 80, 18, 5), (1001, 2004, 11, 1 << 127 | 6)]:
        x = [(p + 1) * 0x9E3779B97F4A7C15F39CC0605CEDC835 & MASK for p in range(positions)]
        out = compress(x, outputs, weight, seed)
        folded = 0
        for element in out:
            folded = (folded << 1 | folded >> 127) & MASK ^ element
        print(f"{outputs} {positions} {weight} {seed:#x}: first {out[0]:#034x}, last {out[-1]:#034x}, folded {folded:#034x}")
