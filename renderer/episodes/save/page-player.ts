/**
 * Script of a saved episode: plays the boards of the page in order. It takes them from the document, so its text is the
 * same on every page, and the page's Content-Security-Policy can allow it by its hash.
 */
export const playerScript = `
const player = document.querySelector('.player');
const frames = [...document.querySelectorAll('.boards li')];
const [picture, caption, button, range] = ['img', 'figcaption', 'button', 'input'].map((name) => player.querySelector(name));
let timer;
function show(index) {
  range.value = index;
  picture.src = frames[index].querySelector('img').src;
  caption.textContent = index + 1 + ' of ' + frames.length + ': ' + frames[index].textContent;
}
function stop() {
  clearInterval(timer);
  timer = undefined;
  button.textContent = 'Play';
}
function advance() {
  show(Number(range.value) + 1);
  if (Number(range.value) === frames.length - 1) stop();
}
button.onclick = () => {
  if (timer) return stop();
  if (Number(range.value) === frames.length - 1) show(0);
  button.textContent = 'Pause';
  timer = setInterval(advance, 600);
};
range.oninput = () => {
  stop();
  show(Number(range.value));
};
range.max = frames.length - 1;
show(0);
player.hidden = false;
`;

/** SHA-256 of the script. A test checks it. */
export const playerHash = 'sha256-YEUFdsrWUyIBerLYlECarMGGHmP1QvL6dLvxuvsuGNA=';

/** Returns the player, which is hidden where scripts don't run. */
export const playerMarkup = `<figure class="player" hidden>
<img alt="">
<figcaption></figcaption>
<div><button type="button">Play</button><input type="range" min="0" value="0" aria-label="Board"></div>
</figure>`;
