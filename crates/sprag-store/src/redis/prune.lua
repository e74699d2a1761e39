-- Swaps the start of the log and cuts what came before it, unless somebody else did so already.
--
-- KEYS: base, new base, log, notes, head. ARGV: where the log started, where it is to start.
local after = redis.call('HGET', KEYS[1], 'after') or '0'
if after ~= ARGV[1] then
  redis.call('DEL', KEYS[2])
  return 0
end
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
