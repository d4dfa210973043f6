import unittest

from src.sums import add


class Sums(unittest.TestCase):
    def test_add(self):
        self.assertEqual(add(2, 2), 4)
