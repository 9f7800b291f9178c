/**
 * What people call runs, what those are trained by, and what episodes say, to be searched: filled from rollout files in the background, and gone with them. `facets` are
 * words that no text has, so that a filter is part of the match and costs nothing.
 */
export const sql = `
ALTER TABLE runs ADD COLUMN given_name TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN algorithm TEXT;

CREATE TABLE episodes (
  id INTEGER PRIMARY KEY,
  run TEXT NOT NULL REFERENCES runs ON DELETE CASCADE,
  iteration INTEGER NOT NULL,
  split TEXT NOT NULL,
  episode TEXT NOT NULL,
  environment TEXT NOT NULL,
  success INTEGER NOT NULL,
  reward REAL NOT NULL,
  text TEXT NOT NULL,
  facets TEXT NOT NULL
) STRICT;
CREATE INDEX episodes_by_file ON episodes (run, iteration, split);

CREATE VIRTUAL TABLE episode_text USING fts5 (text, facets, content = 'episodes', content_rowid = 'id', prefix = '2 3');
CREATE TRIGGER episode_added AFTER INSERT ON episodes BEGIN
  INSERT INTO episode_text (rowid, text, facets) VALUES (new.id, new.text, new.facets);
END;
CREATE TRIGGER episode_gone AFTER DELETE ON episodes BEGIN
  INSERT INTO episode_text (episode_text, rowid, text, facets) VALUES ('delete', old.id, old.text, old.facets);
END;

CREATE TABLE indexed_rollouts (
  run TEXT NOT NULL REFERENCES runs ON DELETE CASCADE,
  iteration INTEGER NOT NULL,
  split TEXT NOT NULL,
  PRIMARY KEY (run, iteration, split)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER rollout_forgotten AFTER DELETE ON rollouts BEGIN
  DELETE FROM episodes WHERE run = old.run AND iteration = old.iteration AND split = old.split;
  DELETE FROM indexed_rollouts WHERE run = old.run AND iteration = old.iteration AND split = old.split;
END;
CREATE TRIGGER rollout_removed AFTER UPDATE OF removed ON rollouts WHEN new.removed = 1 BEGIN
  DELETE FROM episodes WHERE run = old.run AND iteration = old.iteration AND split = old.split;
END;
`;
