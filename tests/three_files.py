"""A made-up data set of three files and a source that hands them over, for the tests of data sets."""

import hashlib

from separatrix.tasks.datasets import DataFile, DataSet, Source

CONTENTS = {"one-idx3-ubyte": bytes(range(200)) * 7, "two-idx1-ubyte": b"skewed" * 11, "three": b"\1"}
FILES = tuple(DataFile(name, len(body), hashlib.md5(body).hexdigest()) for name, body in CONTENTS.items())


class Given(Source):
    """Hands over these contents in order, then raises ``end``; counts how often it was asked."""

    def __init__(self, contents, end=None, label="given"):
        self.contents, self.end, self.asked, self._label = contents, end, [], label

    @property
    def label(self):
        return self._label

    def fetch(self, files, watch):
        self.asked.append([file.name for file in files])
        for file in files:
            if file.name in self.contents:
                yield file, self.contents[file.name]
        if self.end is not None:
            raise self.end


def made(*sources):
    return DataSet("tiny", "three files", FILES, sources)


def there(found):
    return {path.name: path.read_bytes() for path in found.folder.iterdir()} if found.folder.is_dir() else {}
