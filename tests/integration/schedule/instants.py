"""The instants of timetables, computed from zoneinfo alone and by brute force: a second opinion on the program's own.

Reads {"since", "until" (seconds), "cases": [{"cron", "zone"}]} and writes, for each case, the instants in [since, until).
Minutes must be multiples of 15, which is how the local clock is walked through.
"""

import json
import sys
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

QUARTER = 15 * 60


def values(field, low, high):
    found = set()
    for part in field.split(","):
        span, _, step = part.partition("/")
        if span == "*":
            first, last = low, high
        else:
            first, _, last = span.partition("-")
            first, last = int(first), int(last or first)
        found.update(range(first, last + 1, int(step or 1)))
    return found


class Cron:
    def __init__(self, text):
        minute, hour, day, month, weekday = text.split()
        self.fixed = not any(c in field for field in (minute, hour) for c in "*/")
        self.minutes, self.hours = values(minute, 0, 59), values(hour, 0, 23)
        self.days, self.months = values(day, 1, 31), values(month, 1, 12)
        self.weekdays = {number % 7 for number in values(weekday, 0, 7)}
        self.any_day, self.any_weekday = day == "*", weekday == "*"

    def has_date(self, date):
        if date.month not in self.months:
            return False
        day, weekday = date.day in self.days, date.isoweekday() % 7 in self.weekdays
        if self.any_day or self.any_weekday:
            return day and weekday
        return day or weekday

    def has_time(self, time):
        return time.minute in self.minutes and time.hour in self.hours


def wall(second, zone):
    return datetime.fromtimestamp(second, zone).replace(tzinfo=None, fold=0)


def first_instant(local, zone):
    """The first second at which the clock shows `local`, or has gone past it."""
    guess = int(local.replace(tzinfo=timezone.utc).timestamp())
    second = guess - 16 * 3600
    # In big steps while the clock is surely before it, then in quarters. Clocks go back by three hours at the most.
    while wall(second + 4 * 3600, zone) < local - timedelta(hours=4):
        second += 3600
    while wall(second, zone) < local:
        second += QUARTER
    return second


def instants(cron, zone, since, until):
    if not cron.fixed:
        walls = ((second, wall(second, zone)) for second in range(since, until, QUARTER))
        return [second for second, local in walls if cron.has_time(local) and cron.has_date(local)]
    found = set()
    date = wall(since, zone).date() - timedelta(days=1)
    while date <= wall(until, zone).date():
        if cron.has_date(date):
            for hour in cron.hours:
                for minute in cron.minutes:
                    found.add(first_instant(datetime(date.year, date.month, date.day, hour, minute), zone))
        date += timedelta(days=1)
    return sorted(second for second in found if since <= second < until)


def main():
    asked = json.load(sys.stdin)
    cases = ((Cron(case["cron"]), ZoneInfo(case["zone"])) for case in asked["cases"])
    json.dump([instants(cron, zone, asked["since"], asked["until"]) for cron, zone in cases], sys.stdout)


main()
