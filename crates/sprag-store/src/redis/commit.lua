-- Judged elsewhere, decided here: where every cell is still what it was when an event was judged, the
-- cells that it changed and its record are written, all or nothing. Otherwise the fresh cells go back.
--
-- KEYS: head, log, sessions, notes, marked sessions, fence of the pod, then one for each cell.
-- ARGV: rules version, 'e' or 'n' (event or note), record, number of cells, number of sessions,
--       number of the fence, name of this commit,
--       then last event (-: none), id and new state ('': as it was) of each session,
--       then for each cell the version expected, the life in ms (0: for ever, -: none) and the bytes ('': as they are).
local call = redis.call
local now = call('TIME')
local head = call('HMGET', KEYS[1], 'seq', 'hash', 'rules', 'note', 'bytes')
local note = head[4] or '0'
-- A namespace that was emptied knows neither rules nor pods.
if head[3] and head[3] ~= ARGV[1] then
  return {'rules', now[1], now[2], note, head[3]}
end
-- The pod gave this up, and decided alone or will ask again.
if call('GET', KEYS[6]) ~= ARGV[6] then
  return {'fenced', now[1], now[2], note}
end
local cells = tonumber(ARGV[4])
local sessions = tonumber(ARGV[5])
local before = 7 + 3 * sessions
local fresh = {}
for i = 1, cells do
  if call('GETRANGE', KEYS[6 + i], 0, 15) ~= ARGV[before + 3 * i - 2] then
    fresh[#fresh + 1] = i
    fresh[#fresh + 1] = call('GET', KEYS[6 + i])
  end
end
if #fresh > 0 then
  return {'stale', now[1], now[2], note, fresh}
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
      call('DEL', KEYS[6 + i])
    elseif life == '0' then
      call('SET', KEYS[6 + i], version .. bytes)
    else
      call('SET', KEYS[6 + i], version .. bytes, 'PX', life)
    end
  end
end
for i = 1, sessions do
  local touched, id, state = ARGV[5 + 3 * i], ARGV[6 + 3 * i], ARGV[7 + 3 * i]
  if touched == '-' then
    call('ZREM', KEYS[3], id)
  else
    call('ZADD', KEYS[3], touched, id)
  end
  if state == 'active' then
    call('HDEL', KEYS[5], id)
  elseif state ~= '' then
    call('HSET', KEYS[5], id, state)
  end
end
local text = string.format('%.0f', seq)
call('XADD', KEYS[2], text .. '-0', 'b', ARGV[3], 'h', hash, 'i', ARGV[7])
local bytes = string.format('%.0f', (tonumber(head[5]) or 0) + #ARGV[3])
if ARGV[2] == 'n' then
  note = text
  call('ZADD', KEYS[4], text, text)
  call('HSET', KEYS[1], 'seq', text, 'hash', hash, 'bytes', bytes, 'note', note)
else
  call('HSET', KEYS[1], 'seq', text, 'hash', hash, 'bytes', bytes)
end
return {'done', now[1], now[2], note, text, prev, hash}
