-- Passkeys of users (WebAuthn). Public keys only: the private key never leaves the authenticator.
CREATE TABLE passkey (
  id            BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  user_id       BIGINT UNSIGNED NOT NULL,
  credential_id VARBINARY(1023) NOT NULL,            -- chosen by the authenticator
  algorithm     INT NOT NULL,                        -- COSE: -7 ES256, -8 EdDSA, -257 RS256
  public_key    VARBINARY(512) NOT NULL,
  sign_count    INT UNSIGNED NOT NULL,               -- of the last login; 0: the authenticator counts nothing
  user_handle   BINARY(32) NOT NULL,                 -- what the authenticator stores as the user
  name          VARCHAR(64) NOT NULL,
  created_ms    BIGINT NOT NULL,
  used_ms       BIGINT NOT NULL DEFAULT 0,           -- the last login; 0: never
  UNIQUE KEY passkey_credential (credential_id),
  KEY passkey_user (user_id, id),
  CONSTRAINT passkey_owner FOREIGN KEY (user_id) REFERENCES user (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
