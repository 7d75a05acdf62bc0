-- In a file of its own: when the server refuses it, the file is repeated as it is.
RENAME TABLE transfer_kept TO transfer;
