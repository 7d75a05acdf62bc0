/* Passkeys: adds one on their page or on the offer after registering, logs in with one on the login page. Without this
 * file, in a browser without passkeys and at another address than the site's own, its forms stay hidden. */
(function () {
  'use strict';
  const form = document.querySelector('form[data-passkey]');
  if (!form || !window.PublicKeyCredential || location.hostname !== form.dataset.site) return;
  const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (c) => c.charCodeAt(0));
  const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replace(/\+/g, '-').replace(/\//g, '_').replace(/=/g, '');
  const post = async (path, fields) => {
    const answer = await fetch(path, {
      method: 'POST', headers: { Accept: 'application/json' }, body: new URLSearchParams(fields),
    });
    const json = await answer.json();
    if (!answer.ok) throw json;
    return json;
  };
  const credential = (id) => ({ type: 'public-key', id: bytes(id) });

  /* The password, or the answer of another passkey that confirm.js has filled in: it is of use once. */
  const proof = () => {
    const fields = {};
    for (const name of ['password', 'passkey', 'client_data', 'authenticator_data', 'signature']) {
      const input = form.elements.namedItem(name);
      if (!input) continue;
      fields[name] = input.value;
      if (input.type === 'hidden') input.remove();
    }
    return fields;
  };

  let begun; /* a challenge that no key was made for yet, because the browser asked for one more press */
  const add = async () => {
    begun = begun || await post('/account/passkeys/challenge', proof());
    const { challenge, site, user, algorithms, exclude, seconds } = begun;
    const { response } = await navigator.credentials.create({
      publicKey: {
        challenge: bytes(challenge),
        rp: { id: site, name: form.dataset.name },
        user: { id: bytes(user.id), name: user.name, displayName: user.nickname },
        pubKeyCredParams: algorithms.map(({ id }) => ({ type: 'public-key', alg: id })),
        excludeCredentials: exclude.map(({ id }) => credential(id)),
        authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
        attestation: 'none',
        timeout: seconds * 1000,
      },
    });
    begun = undefined;
    await post('/account/passkeys', {
      name: form.elements.namedItem('name') ? form.elements.namedItem('name').value : '',
      client_data: text(response.clientDataJSON),
      authenticator_data: text(response.getAuthenticatorData()),
    });
    const done = document.querySelector('[data-passkey-done]'), onward = document.querySelector('[data-passkey-on]');
    if (!done) {
      location.assign(form.dataset.next);
      return;
    }
    form.hidden = true; /* the offer says that it was added, and leads on */
    done.hidden = false;
    onward.textContent = onward.dataset.passkeyOn;
    onward.setAttribute('aria-describedby', done.id);
    onward.focus();
  };

  const login = async () => {
    const { challenge, site, seconds } = await post('/login/passkey/challenge');
    const { rawId, response } = await navigator.credentials.get({
      publicKey: { challenge: bytes(challenge), rpId: site, userVerification: 'required', timeout: seconds * 1000 },
    });
    await post('/login/passkey', {
      id: text(rawId),
      user_handle: text(response.userHandle || new ArrayBuffer(0)),
      client_data: text(response.clientDataJSON),
      authenticator_data: text(response.authenticatorData),
      signature: text(response.signature),
    });
    location.assign('/login?cookie=1&next=' + encodeURIComponent(form.dataset.next));
  };

  /* error: a problem of the service, or what the browser threw. */
  const words = (error) => {
    if (error.errors) return error.errors[0].message;
    if (error.status) return error.detail || error.title;
    if (error.name === 'NotAllowedError') return form.dataset.cancelled;
    return error.name === 'InvalidStateError' ? form.dataset.taken : form.dataset.failed;
  };
  const message = form.querySelector('[role=alert]'), button = form.querySelector('[type=submit]');
  let running = false;
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (running) return;
    running = true;
    button.setAttribute('aria-disabled', 'true');
    message.textContent = '';
    try {
      await (form.dataset.passkey === 'add' ? add : login)();
    } catch (error) {
      if (error.name !== 'NotAllowedError') begun = undefined;
      message.textContent = words(error);
    }
    button.removeAttribute('aria-disabled');
    running = false;
  });
  form.addEventListener('click', (event) => { /* the passkey has confirmed it: only the new one is missing */
    if (!begun || !event.target.closest('[data-confirm]')) return;
    event.preventDefault();
    event.stopPropagation();
    form.requestSubmit();
  }, true);
  form.hidden = false;
  document.querySelectorAll('[data-passkey-off]').forEach((hint) => { hint.hidden = true; });
}());
