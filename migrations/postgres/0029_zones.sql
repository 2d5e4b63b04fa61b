-- The time zones that people have chosen for their reminders. Without a row it is the team's.
CREATE TABLE reminder_zones (
    person TEXT PRIMARY KEY,
    zone   TEXT NOT NULL
);
