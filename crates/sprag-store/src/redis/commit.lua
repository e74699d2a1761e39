-- Judged elsewhere, decided here: where every cell is still what it was when an event was judged, the
-- cells that it changed and its record are written, all or nothing. Otherwise the fresh cells go back.
--
-- KEYS: head, log, sessions, notes, marked sessions, then one for each cell.
-- ARGV: rules version, 'e' or 'n' (event or note), record, number of cells, number of sessions,
--       then last event (-: none), id and new state ('': as it was) of each session,
--       then for each cell the version expected, the life in ms (0: for ever, -: none) and the bytes ('': as they are).
local now = redis.call('TIME')
local cells = tonumber(ARGV[4])
local sessions = tonumber(ARGV[5])
local before = 5 + 3 * sessions
local head = redis.call('HMGET', KEYS[1], 'seq', 'hash', 'rules', 'note', 'bytes')
if head[3] ~= ARGV[1] then
  return {'rules', now[1], now[2], head[4] or '0', head[3]}
end
local fresh = {}
for i = 1, cells do
  if redis.call('GETRANGE', KEYS[5 + i], 0, 15) ~= ARGV[before + 3 * i - 2] then
    fresh[#fresh + 1] = i
    fresh[#fresh + 1] = redis.call('GET', KEYS[5 + i])
  end
end
if #fresh > 0 then
  return {'stale', now[1], now[2], head[4] or '0', fresh}
end
local seq = (tonumber(head[1]) or 0) + 1
local prev = head[2] or ''
local number = struct.pack('>I8', seq)
local hash = redis.sha1hex(prev .. number .. ARGV[3])
local version = number .. string.sub(hash, 1, 8)
for i = 1, cells do
  local bytes = ARGV[before + 3 * i]
  if bytes ~= '' then
    local life = ARGV[before + 3 * i - 1]
    if life == '-' then
      redis.call('DEL', KEYS[5 + i])
    elseif life == '0' then
      redis.call('SET', KEYS[5 + i], version .. bytes)
    else
      redis.call('SET', KEYS[5 + i], version .. bytes, 'PX', life)
    end
  end
end
for i = 1, sessions do
  local touched, id, state = ARGV[3 + 3 * i], ARGV[4 + 3 * i], ARGV[5 + 3 * i]
  if touched == '-' then
    redis.call('ZREM', KEYS[3], id)
  else
    redis.call('ZADD', KEYS[3], touched, id)
  end
  if state == 'active' then
    redis.call('HDEL', KEYS[5], id)
  elseif state ~= '' then
    redis.call('HSET', KEYS[5], id, state)
  end
end
local text = string.format('%.0f', seq)
redis.call('XADD', KEYS[2], text .. '-0', 'b', ARGV[3], 'h', hash)
local note = head[4] or '0'
if ARGV[2] == 'n' then
  note = text
  redis.call('ZADD', KEYS[4], text, text)
end
local bytes = string.format('%.0f', (tonumber(head[5]) or 0) + #ARGV[3])
redis.call('HSET', KEYS[1], 'seq', text, 'hash', hash, 'note', note, 'bytes', bytes)
return {'done', now[1], now[2], note, text, prev, hash}
