/* Registers with a passkey in place of a password: the browser makes the passkey for the names that were typed, then the
 * recovery codes are shown once. Without this file, in a browser without passkeys and at another address than the site's
 * own, its button stays hidden. */
(function () {
  'use strict';
  const part = document.querySelector('[data-passkey-new]');
  if (!part || !window.PublicKeyCredential || location.hostname !== part.dataset.passkeyNew) return;
  const form = part.closest('form'), button = part.querySelector('button'), message = part.querySelector('[role=alert]');
  const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (c) => c.charCodeAt(0));
  const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replace(/\+/g, '-').replace(/\//g, '_').replace(/=/g, '');
  const value = (name) => form.elements.namedItem(name)?.value ?? '';
  const post = async (path, more) => {
    const fields = { username: value('username'), nickname: value('nickname'), invitation: value('invitation'), ...more };
    const terms = form.elements.namedItem('terms');
    if (terms && terms.checked) fields.terms = '1';
    const answer = await fetch(path, { method: 'POST', headers: { Accept: 'application/json' }, body: new URLSearchParams(fields) });
    const json = await answer.json();
    if (!answer.ok) throw json;
    return json;
  };

  /* The message beside its field; the first of several takes the focus. */
  const tell = ({ field, message: words }) => {
    const input = form.elements.namedItem(field);
    if (!input || input.type === 'hidden') return false;
    let place = document.getElementById(`${field}_error`);
    if (!place) {
      place = Object.assign(document.createElement('p'), { className: 'wrong', id: `${field}_error` });
      place.setAttribute('role', 'alert');
      (input.closest('.check') || input).after(place);
    }
    place.textContent = words;
    input.setAttribute('aria-invalid', 'true');
    input.setAttribute('aria-describedby', place.id);
    return true;
  };
  const clear = () => form.querySelectorAll('[aria-invalid]').forEach((input) => {
    input.removeAttribute('aria-invalid');
    const place = document.getElementById(`${input.name}_error`);
    if (place) place.textContent = '';
  });
  const show = (error) => {
    const errors = (error.errors || []).filter(tell);
    if (errors.length > 0) form.elements.namedItem(errors[0].field).focus();
    else if (error.errors) message.textContent = error.errors[0].message;
    else if (error.status) message.textContent = error.detail || error.title;
    else message.textContent = error.name === 'NotAllowedError' ? part.dataset.cancelled : error.name === 'InvalidStateError' ? part.dataset.taken : part.dataset.failed;
  };

  const register = async () => {
    const { challenge, site, user, algorithms, seconds } = await post('/register/passkey/challenge');
    const { rawId, response } = await navigator.credentials.create({
      publicKey: {
        challenge: bytes(challenge),
        rp: { id: site, name: part.dataset.name },
        user: { id: bytes(user.id), name: user.name, displayName: user.nickname },
        pubKeyCredParams: algorithms.map(({ id }) => ({ type: 'public-key', alg: id })),
        authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
        attestation: 'none',
        timeout: seconds * 1000,
      },
    });
    try {
      await post('/register/passkey', {
        client_data: text(response.clientDataJSON),
        authenticator_data: text(response.getAuthenticatorData()),
      });
    } catch (error) { /* refused: the device may forget a passkey that nobody knows */
      if (error.status === 422) PublicKeyCredential.signalUnknownCredential?.({ rpId: site, credentialId: text(rawId) })?.catch(() => {});
      throw error;
    }
    location.assign(`/account/recovery?made=1&next=${encodeURIComponent(value('next') || '/')}`);
  };

  let running = false;
  button.addEventListener('click', async () => {
    if (running) return;
    running = true;
    button.setAttribute('aria-disabled', 'true');
    message.textContent = '';
    clear();
    try {
      await register();
    } catch (error) {
      show(error);
    }
    button.removeAttribute('aria-disabled');
    running = false;
  });
  part.hidden = form.hidden = false;
  document.querySelectorAll('[data-passkey-off]').forEach((hint) => { hint.hidden = true; });
}());
