-- When an absence begins. NULL: it began when it was told.
ALTER TABLE checkin_people ADD COLUMN starts TEXT;
