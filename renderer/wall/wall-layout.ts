/** All lengths in CSS pixels. */
export interface WallLayout {
  /** Size of a board. */
  width: number;
  height: number;
  /** Boards per row of a group. */
  across: number;
  /** Position and size of each group, including its caption. `total` is the height of the wall. */
  groups: { x: number; y: number; width: number; height: number }[];
  caption: number;
  total: number;
}

interface WallShape {
  groups: number;
  /** Size of the largest group. */
  members: number;
  /** Width of a board divided by its height. */
  aspect: number;
  width: number;
  /** Preferred height; exceeded if boards would get too small. */
  height: number;
}

export const gap = 3;
const captionHeight = 20;
/** Fits `16 14/16` and the symbol for zero variance. */
const captionWidth = 86;
/** Limit of the space that is added between rows if boards are limited by the width. */
const maxSpareHeight = 28;
/** Limits of a board's longer side. */
const minSide = 20;
const maxSide = 112;

interface Arrangement {
  columns: number;
  across: number;
  side: number;
}

/** Returns the layout with the largest boards that fits: groups in columns, boards in rows below a caption. */
export function layoutWall({ groups, members, aspect, width, height }: WallShape): WallLayout {
  const caption = members > 1 ? captionHeight : 0;
  const between = members > 1 ? { x: 16, y: 8 } : { x: gap, y: gap };
  /** Whole pixels keep the boards' edges sharp. */
  const heightOf = (side: number) => Math.max(1, Math.floor(side / aspect));
  const rowsOf = (across: number) => Math.ceil(members / across);
  const groupHeight = (across: number, side: number) => caption + rowsOf(across) * (heightOf(side) + gap) - gap;
  const totalOf = ({ columns, across, side }: Arrangement) =>
    Math.ceil(groups / columns) * (groupHeight(across, side) + between.y) - between.y;

  /** Returns the largest boards that fit with this many columns and boards per row. */
  function fitted(columns: number, across: number): Arrangement {
    const byWidth = ((width - (columns - 1) * between.x) / columns + gap) / across - gap;
    const lines = Math.ceil(groups / columns);
    const rows = rowsOf(across);
    const byHeight = (((height + between.y) / lines - between.y - caption + gap) / rows - gap) * aspect;
    return { columns, across, side: Math.floor(Math.min(byWidth, byHeight, maxSide * Math.max(1, aspect))) };
  }

  let best: Arrangement | null = null;
  const narrowest = members > 1 ? captionWidth : 0;
  for (let columns = 1; columns <= groups; columns++) {
    if (columns > 1 && columns * (narrowest + between.x) - between.x > width) break;
    for (const across of widthsOf(members)) {
      const each = fitted(columns, across);
      if (!best || each.side > best.side) best = each;
    }
  }
  const { columns, across, side } = best && best.side >= minSide ? best : packed(members, width, between, groups);
  const group = { width: Math.max(narrowest, across * (side + gap) - gap), height: groupHeight(across, side) };
  // The remaining width and height go between the columns and rows.
  const spare = columns > 1 ? (width - columns * group.width) / (columns - 1) : 0;
  const stride = group.width + Math.max(between.x, spare);
  const rows = Math.ceil(groups / columns);
  const total = Math.max(0, totalOf({ columns, across, side }));
  const spareHeight = rows > 1 ? Math.floor(Math.min(maxSpareHeight, Math.max(0, height - total) / (rows - 1))) : 0;
  return {
    width: side,
    height: heightOf(side),
    across,
    caption,
    total: total + spareHeight * (rows - 1),
    groups: Array.from({ length: groups }, (_, at) => ({
      x: Math.floor((at % columns) * stride),
      y: Math.floor(at / columns) * (group.height + between.y + spareHeight),
      ...group,
    })),
  };
}

/** Returns the possible numbers of boards per row: those that fill all rows, such as 4 or 8 of 16. A prime number above 3 is filled only by 1 and itself, so rows need not be full. */
function widthsOf(members: number): number[] {
  const all = Array.from({ length: members }, (_, index) => Math.ceil(members / (index + 1)));
  const full = all.filter((across) => members % across === 0);
  return members > 3 && full.length <= 2 ? all : full;
}

/** Returns the arrangement of the smallest boards with the least height. Used if larger boards don't fit. */
function packed(members: number, width: number, between: { x: number; y: number }, groups: number): Arrangement {
  const arrange = (across: number) => {
    const groupWidth = Math.max(members > 1 ? captionWidth : 0, across * (minSide + gap) - gap);
    const columns = Math.max(1, Math.min(groups, Math.floor((width + between.x) / (groupWidth + between.x))));
    const groupHeight = captionHeight + Math.ceil(members / across) * (minSide + gap);
    return { columns, across, side: minSide, height: Math.ceil(groups / columns) * (groupHeight + between.y) };
  };
  const fitting = widthsOf(members).filter((across) => across * (minSide + gap) - gap <= width);
  // Without such a width, rows are as long as possible.
  const longest = Math.max(1, Math.min(members, Math.floor((width + gap) / (minSide + gap))));
  const all = (fitting.length > 0 ? fitting : [longest]).map(arrange);
  return all.reduce((lowest, each) => (each.height < lowest.height ? each : lowest));
}
