/* A passkey in place of the password in a form: signs a challenge, fills in the answer and submits the form. Without this
 * file, in a browser without passkeys and at another address than the site's own, its button stays hidden. */
(function () {
  'use strict';
  const part = document.querySelector('[data-confirm]');
  if (!part || !window.PublicKeyCredential || location.hostname !== part.dataset.confirm) return;
  const form = part.closest('form'), button = part.querySelector('button'), message = part.querySelector('[role=alert]');
  const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (c) => c.charCodeAt(0));
  const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replace(/\+/g, '-').replace(/\//g, '_').replace(/=/g, '');

  const confirm = async () => {
    const answer = await fetch('/account/passkeys/confirm', { method: 'POST', headers: { Accept: 'application/json' }, body: new URLSearchParams() });
    const json = await answer.json();
    if (!answer.ok) throw json;
    const { rawId, response } = await navigator.credentials.get({
      publicKey: {
        challenge: bytes(json.challenge),
        rpId: json.site,
        allowCredentials: json.allow.map(({ id }) => ({ type: 'public-key', id: bytes(id) })),
        userVerification: 'required',
        timeout: json.seconds * 1000,
      },
    });
    const fields = { passkey: rawId, client_data: response.clientDataJSON, authenticator_data: response.authenticatorData, signature: response.signature };
    for (const [name, buffer] of Object.entries(fields)) {
      const input = form.elements.namedItem(name) || form.appendChild(document.createElement('input'));
      Object.assign(input, { type: 'hidden', name, value: text(buffer) });
    }
    const password = form.querySelector('[autocomplete=current-password]');
    if (password) password.value = '';
    form.requestSubmit();
  };

  let running = false;
  button.addEventListener('click', async (event) => {
    event.preventDefault(); /* without a password it is the form's only button */
    if (running) return;
    running = true;
    button.setAttribute('aria-disabled', 'true');
    message.textContent = '';
    try {
      await confirm();
    } catch (error) {
      message.textContent = error.status ? error.detail || error.title : error.name === 'NotAllowedError' ? part.dataset.cancelled : part.dataset.failed;
    }
    button.removeAttribute('aria-disabled');
    running = false;
  });
  part.hidden = false;
  document.querySelectorAll('[data-confirm-on]').forEach((hint) => { hint.hidden = false; });
  document.querySelectorAll('[data-confirm-off]').forEach((hint) => { hint.hidden = true; });
}());
