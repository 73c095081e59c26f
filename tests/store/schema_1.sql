-- The tables of version 1 as Osler made them on ClickHouse 18.16, with a run in them: an upgrade is tested on them.
CREATE DATABASE osler;
CREATE TABLE osler.config ( run UInt64,  stream UInt64,  key String,  value String,  number UInt64) ENGINE = ReplacingMergeTree(number) ORDER BY (run, stream, key) SETTINGS index_granularity = 8192;
CREATE TABLE osler.findings ( run UInt64,  finding String,  episode UInt32,  seen Float64,  severity String,  confidence Float64,  first_step Int64,  began Float64,  summary String,  gone Float64,  changed UInt64) ENGINE = ReplacingMergeTree(changed) ORDER BY (run, finding, episode) SETTINGS index_granularity = 8192;
CREATE TABLE osler.histograms ( run UInt64,  series UInt64,  stream UInt64,  number UInt64,  step Int64,  time Float64,  least Float64,  most Float64,  count Float64,  sum Float64,  sum_squares Float64,  limits Array(Float64),  counts Array(Float64)) ENGINE = ReplacingMergeTree() ORDER BY (run, series, stream, number, step) SETTINGS index_granularity = 8192;
CREATE TABLE osler.labels ( run UInt64,  label String,  value String,  changed UInt64) ENGINE = ReplacingMergeTree(changed) ORDER BY (run, label) SETTINGS index_granularity = 8192;
CREATE TABLE osler.leases ( run UInt64,  worker String,  until UInt64,  changed UInt64) ENGINE = ReplacingMergeTree(changed) ORDER BY (run, worker) SETTINGS index_granularity = 8192;
CREATE TABLE osler.marks ( run UInt64,  stream UInt64,  number UInt64,  step Int64,  kind UInt8,  time Float64,  text String) ENGINE = ReplacingMergeTree() ORDER BY (run, stream, number, step, kind, text) SETTINGS index_granularity = 8192;
CREATE TABLE osler.osler_schema ( version UInt32,  applied Float64) ENGINE = ReplacingMergeTree() ORDER BY version SETTINGS index_granularity = 8192;
CREATE TABLE osler.points ( run UInt64,  series UInt64,  stream UInt64,  number UInt64,  step Int64,  time Float64,  value Float64) ENGINE = ReplacingMergeTree() ORDER BY (run, series, stream, number, step) SETTINGS index_granularity = 8192;
CREATE TABLE osler.progress ( run UInt64,  stream UInt64,  number UInt64,  bytes UInt64,  fingerprint UInt64) ENGINE = ReplacingMergeTree(number) ORDER BY (run, stream) SETTINGS index_granularity = 8192;
CREATE TABLE osler.projects ( project String,  setting String,  value String,  changed UInt64) ENGINE = ReplacingMergeTree(changed) ORDER BY (project, setting) SETTINGS index_granularity = 8192;
CREATE TABLE osler.reports ( run UInt64,  since UInt64,  changed UInt64,  examined Float64,  status String,  headline String,  cause String,  probability Float64,  worker String,  json String) ENGINE = ReplacingMergeTree(changed) ORDER BY (run, since) SETTINGS index_granularity = 8192;
CREATE TABLE osler.runs ( run UInt64,  project String,  name String,  machine String,  format String,  changed UInt64,  began Float64,  last_time Float64,  points UInt64) ENGINE = ReplacingMergeTree(changed) ORDER BY run SETTINGS index_granularity = 8192;
CREATE TABLE osler.series ( run UInt64,  series UInt64,  stream UInt64,  name String,  position UInt32) ENGINE = ReplacingMergeTree() ORDER BY (run, series, stream) SETTINGS index_granularity = 8192;
CREATE TABLE osler.streams ( run UInt64,  stream UInt64,  path String,  generation UInt32,  position UInt32,  inode UInt64,  format String,  void UInt8,  changed UInt64) ENGINE = ReplacingMergeTree(changed) ORDER BY (run, stream) SETTINGS index_granularity = 8192;
INSERT INTO osler.labels VALUES
  (15835913162713067207, 'tag:first', '1', 1795116327579);
INSERT INTO osler.osler_schema VALUES
  (1, 1795116327.497);
INSERT INTO osler.points VALUES
  (15835913162713067207, 8707220620819550442, 2917907825848614746, 0, 0, nan, 2), (15835913162713067207, 8707220620819550442, 2917907825848614746, 2, 1, nan, 1), (15835913162713067207, 8707220620819550442, 2917907825848614746, 4, 2, nan, 0.666667), (15835913162713067207, 8707220620819550442, 2917907825848614746, 6, 3, nan, 0.5),
  (15835913162713067207, 8707220620819550442, 2917907825848614746, 8, 4, nan, 0.4), (15835913162713067207, 8707220620819550442, 2917907825848614746, 10, 5, nan, 0.333333), (15835913162713067207, 8707220620819550442, 2917907825848614746, 12, 6, nan, 0.285714), (15835913162713067207, 8707220620819550442, 2917907825848614746, 14, 7, nan, 0.25),
  (15835913162713067207, 8707220620819550442, 2917907825848614746, 16, 8, nan, 0.222222), (15835913162713067207, 8707220620819550442, 2917907825848614746, 18, 9, nan, 0.2), (15835913162713067207, 8707220620819550442, 2917907825848614746, 20, 10, nan, 0.181818), (15835913162713067207, 8707220620819550442, 2917907825848614746, 22, 11, nan, 0.166667),
  (15835913162713067207, 15744686186862587780, 2917907825848614746, 1, 0, nan, 1), (15835913162713067207, 15744686186862587780, 2917907825848614746, 3, 1, nan, 0.833333), (15835913162713067207, 15744686186862587780, 2917907825848614746, 5, 2, nan, 0.75), (15835913162713067207, 15744686186862587780, 2917907825848614746, 7, 3, nan, 0.7),
  (15835913162713067207, 15744686186862587780, 2917907825848614746, 9, 4, nan, 0.666667), (15835913162713067207, 15744686186862587780, 2917907825848614746, 11, 5, nan, 0.642857), (15835913162713067207, 15744686186862587780, 2917907825848614746, 13, 6, nan, 0.625), (15835913162713067207, 15744686186862587780, 2917907825848614746, 15, 7, nan, 0.611111),
  (15835913162713067207, 15744686186862587780, 2917907825848614746, 17, 8, nan, 0.6), (15835913162713067207, 15744686186862587780, 2917907825848614746, 19, 9, nan, 0.590909), (15835913162713067207, 15744686186862587780, 2917907825848614746, 21, 10, nan, 0.583333), (15835913162713067207, 15744686186862587780, 2917907825848614746, 23, 11, nan, 0.576923);
INSERT INTO osler.progress VALUES
  (15835913162713067207, 2917907825848614746, 24, 261, 8282480147595692864);
INSERT INTO osler.projects VALUES
  ('default', 'keep_days', '90', 1795116327610);
INSERT INTO osler.runs VALUES
  (15835913162713067207, 'default', 'old.csv', 'node1', 'csv', 1795116327526, nan, nan, 24);
INSERT INTO osler.series VALUES
  (15835913162713067207, 8707220620819550442, 2917907825848614746, 'loss', 0), (15835913162713067207, 15744686186862587780, 2917907825848614746, 'val_loss', 1);
INSERT INTO osler.streams VALUES
  (15835913162713067207, 2917907825848614746, '/logs/old.csv', 0, 0, 9995083, 'csv', 0, 1795116327525);
