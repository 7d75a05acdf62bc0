-- The audit compares every balance with the sum of its transfers. With the amount in the keys it reads nothing else:
-- before, each amount of a wallet's transfers was looked up in a place of its own.
ALTER TABLE transfer
  DROP KEY transfer_debit,
  DROP KEY transfer_credit,
  ADD KEY transfer_debit (debit_id, id, amount),
  ADD KEY transfer_credit (credit_id, id, amount);
