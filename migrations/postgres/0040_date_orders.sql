-- How people write dates in digits: whether 10/4 is the tenth of April. Asked once; without a row it is not known.
CREATE TABLE reminder_dates (
    person     TEXT PRIMARY KEY,
    date_order TEXT NOT NULL
);
