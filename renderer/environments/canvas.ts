import type { Painter, Piece, Scene } from './environment.ts';
import { decodedImage } from './images.ts';
import type { Shape } from './shapes.tsx';

/** Style of a drawing's CSS class, for a canvas. */
interface Look {
  fill: string | null;
  stroke: string | null;
  width: number;
  cap: CanvasLineCap;
  join: CanvasLineJoin;
  opacity: number;
}

const paths = new WeakMap<Shape, Path2D>();

function pathOf(shape: Shape): Path2D {
  const cached = paths.get(shape) ?? new Path2D(shape.d);
  paths.set(shape, cached);
  return cached;
}

/**
 * Draws an environment's boards on canvases, with the theme's colors at one scale (pixels per unit).
 * Repeated shapes are drawn once and then copied, so that hundreds of boards stay cheap.
 */
export class Brush {
  readonly scale: number;
  private readonly painter: Painter;
  private readonly looks: ReadonlyMap<string, Look>;
  private readonly font = getComputedStyle(document.body).fontFamily;
  private readonly stamps = new Map<string, HTMLCanvasElement>();

  constructor(painter: Painter, scale: number) {
    this.painter = painter;
    this.scale = scale;
    this.looks = readLooks(painter);
  }

  /** Draws the background. The context's origin is the board's corner, in pixels. */
  ground(context: CanvasRenderingContext2D, { ground }: Scene): void {
    context.save();
    context.scale(this.scale, this.scale);
    for (const { x, y, shapes } of ground) {
      context.translate(x, y);
      for (const shape of shapes) this.shape(context, shape);
      context.translate(-x, -y);
    }
    context.restore();
  }

  /** Draws the pieces over the background. `left`, `top`: the board's corner in pixels. */
  pieces(context: CanvasRenderingContext2D, pieces: readonly Piece[], left: number, top: number): void {
    const { scale } = this;
    for (const piece of pieces) {
      const x = left + piece.x * scale;
      const y = top + piece.y * scale;
      if ('text' in piece) this.text(context, piece.text, piece.size * scale, piece.look, x, y);
      else if ('image' in piece) {
        const image = decodedImage(piece.image);
        const [width, height] = [piece.width * scale, piece.height * scale];
        // Enlarged pixels stay crisp.
        context.imageSmoothingEnabled = image !== null && width < image.naturalWidth;
        if (image) context.drawImage(image, x - width / 2, y - height / 2, width, height);
        context.imageSmoothingEnabled = true;
      } else {
        const picture = this.stamp(piece.stamp, piece.scale ?? 1);
        context.drawImage(picture, x - picture.width / 2, y - picture.height / 2);
      }
    }
  }

  private stamp(name: string, size: number): HTMLCanvasElement {
    const key = `${name} ${size}`;
    const cached = this.stamps.get(key);
    if (cached) return cached;
    const picture = document.createElement('canvas');
    const scale = this.scale * size;
    picture.width = picture.height = Math.max(1, Math.ceil(2 * this.painter.reach * scale));
    const context = picture.getContext('2d');
    context?.translate(picture.width / 2, picture.height / 2);
    context?.scale(scale, scale);
    context?.translate(-this.painter.middle, -this.painter.middle);
    for (const shape of this.painter.stamps[name] ?? []) if (context) this.shape(context, shape);
    this.stamps.set(key, picture);
    return picture;
  }

  private shape(context: CanvasRenderingContext2D, shape: Shape): void {
    const look = this.looks.get(shape.look);
    if (!look) return;
    context.globalAlpha = look.opacity;
    const path = pathOf(shape);
    if (look.fill) {
      context.fillStyle = look.fill;
      context.fill(path);
    }
    if (look.stroke && look.width > 0) {
      context.strokeStyle = look.stroke;
      context.lineWidth = look.width;
      context.lineCap = look.cap;
      context.lineJoin = look.join;
      context.stroke(path);
    }
    context.globalAlpha = 1;
  }

  private text(
    context: CanvasRenderingContext2D,
    text: string,
    size: number,
    look: string,
    x: number,
    y: number,
  ): void {
    context.fillStyle = this.looks.get(look)?.fill ?? '#888';
    context.font = `600 ${size}px ${this.font}`;
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    context.fillText(text, x, y);
  }
}

/** Reads the style of every class that the painter's shapes use. */
function readLooks({ styles, palette }: Painter): Map<string, Look> {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('class', styles[palette] ?? '');
  svg.setAttribute('hidden', '');
  const names = Object.keys(styles).filter((name) => name !== palette);
  const elements = names.map((name) => {
    const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
    path.setAttribute('class', styles[name]!);
    return svg.appendChild(path);
  });
  document.body.append(svg);
  const looks = new Map(names.map((name, at) => [name, lookOf(getComputedStyle(elements[at]!))]));
  svg.remove();
  return looks;
}

function lookOf(style: CSSStyleDeclaration): Look {
  return {
    fill: paint(style.fill),
    stroke: paint(style.stroke),
    width: Number.parseFloat(style.strokeWidth) || 0,
    cap: (style.strokeLinecap || 'butt') as CanvasLineCap,
    join: (style.strokeLinejoin || 'miter') as CanvasLineJoin,
    opacity: Number.parseFloat(style.opacity || '1'),
  };
}

const paint = (value: string) => (value === '' || value === 'none' ? null : value);
