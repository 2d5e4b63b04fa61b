mod discord;
