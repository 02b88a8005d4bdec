# SPDX-License-Identifier: Apache-2.0
"""The random numbers of headpond/base/random.h, written a second time from their description."""
MASK = (1 << 64) - 1


def splitmix(x):
    x = ((x ^ x >> 30) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ x >> 27) * 0x94D049BB133111EB) & MASK
    return x ^ x >> 31


def mix(a, b):
    return splitmix(splitmix((a + 0x9E3779B97F4A7C15) & MASK) ^ b)


def fnv1a(text):
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = ((value ^ byte) * 0x100000001B3) & MASK
    return value


def random_key(seed, operator, occurrence, epoch):
    return mix(mix(mix(seed, fnv1a(operator)), occurrence), epoch)


def philox(key, element, block):
    """Philox4x32-10: the four words of one block."""
    low = 0xFFFFFFFF
    keys = [key & low, key >> 32]
    words = [block & low, block >> 32, element & low, element >> 32]
    for _ in range(10):
        first, second = 0xD2511F53 * words[0], 0xCD9E8D57 * words[2]
        words = [second >> 32 ^ words[1] ^ keys[0], second & low, first >> 32 ^ words[3] ^ keys[1], first & low]
        keys = [keys[0] + 0x9E3779B9 & low, keys[1] + 0xBB67AE85 & low]
    return words


def draw(seed, operator, occurrence, epoch, element):
    """What random_u32 gives for the element."""
    return philox(random_key(seed, operator, occurrence, epoch), element, 0)[0]
