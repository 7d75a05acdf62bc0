// The password of people that tests make without registering, and its hash.
export const PASSWORD = 'a good password';
export const PASSWORD_HASH = '$argon2id$v=19$m=19456,t=2,p=1$qwK3UaBbw6ulaSdzFb+AsA$chY1XADdiT00GlutskA416cmacwUGTO7BmaZGUQIk1Y';
