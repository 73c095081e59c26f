"""Exercise 40: a history of a training that a program can ask and a person can read."""

import math


class History:
    """Keeps series of (step, value) and writes them as the CSV that any tool can read."""

    def __init__(self):
        self.all, self.last = {}, None

    def add(self, step, **values):
        """Notes values by name."""
        if self.last is not None and step < self.last:
            for points in self.all.values():
                points[:] = [point for point in points if point[0] < step]
        self.last = step
        for name, value in values.items():
            self.all.setdefault(name, []).append((step, value))

    def series(self, name):
        """The list of (step, value) of a series, in order."""
        return list(self.all.get(name, []))

    def best(self, name):
        """The (step, value) with the lowest finite value."""
        finite = [point for point in self.all.get(name, []) if math.isfinite(point[1])]
        return min(finite, key=lambda point: point[1], default=None)

    def csv(self):
        """All series, one row for each step."""
        columns = {name: dict(points) for name, points in self.all.items()}
        steps = sorted({step for points in self.all.values() for step, _ in points})
        lines = [",".join(["step", *columns])]
        for step in steps:
            cells = [repr(column[step]) if step in column else "" for column in columns.values()]
            lines.append(",".join([str(step), *cells]))
        return "\n".join(lines) + "\n"
