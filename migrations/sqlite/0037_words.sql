-- The words of memories are apart from the memories already. PostgreSQL follows here.
SELECT 1;
