-- Replaces the base of the log and removes the records before it, in one step: at any moment, base
-- plus records give the present cells.
--
-- KEYS: base, new base, log, notes, head. ARGV: number after which the log starts, and shall start.
local after = redis.call('HGET', KEYS[1], 'after') or '0'
-- Another pod pruned since this one read the log, so the new base may be too old. Drop it.
if after ~= ARGV[1] then
  redis.call('DEL', KEYS[2])
  return 0
end
-- Count the bytes that go, in chunks, so that the size bound of the log stays exact.
local gone = 0
local from = '-'
while true do
  local rows = redis.call('XRANGE', KEYS[3], from, ARGV[2] .. '-0', 'COUNT', 1000)
  for _, row in ipairs(rows) do
    gone = gone + #row[2][2]
  end
  if #rows < 1000 then
    break
  end
  from = '(' .. rows[#rows][1]
end
redis.call('RENAME', KEYS[2], KEYS[1])
redis.call('XTRIM', KEYS[3], 'MINID', string.format('%.0f', tonumber(ARGV[2]) + 1) .. '-0')
redis.call('ZREMRANGEBYSCORE', KEYS[4], '-inf', ARGV[2])
local bytes = tonumber(redis.call('HGET', KEYS[5], 'bytes')) or 0
redis.call('HSET', KEYS[5], 'bytes', string.format('%.0f', math.max(0, bytes - gone)))
return 1
