-- Mentions of accounts and channels, and small print, are values in texts from now on. What was stored has them as Discord writes them.
UPDATE inbox SET message = regexp_replace(regexp_replace(message, '<@!?([0-9]{1,20})>', '<user:\1>', 'g'), '<#([0-9]{1,20})>', '<channel:\1>', 'g')
    WHERE message ~ '<[@#]!?[0-9]';
UPDATE outbox SET message = regexp_replace(regexp_replace(message, '<@!?([0-9]{1,20})>', '<user:\1>', 'g'), '<#([0-9]{1,20})>', '<channel:\1>', 'g')
    WHERE message ~ '<[@#]!?[0-9]';
UPDATE turns SET reply = regexp_replace(regexp_replace(reply, '<@!?([0-9]{1,20})>', '<user:\1>', 'g'), '<#([0-9]{1,20})>', '<channel:\1>', 'g')
    WHERE reply ~ '<[@#]!?[0-9]';
-- Within a document a line break is a backslash and an n.
UPDATE seats SET contribution = replace(contribution, '\n-# ', '\n<small>') WHERE strpos(contribution, '\n-# ') > 0;
