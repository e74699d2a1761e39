-- Commits one record: a compare-and-set over all cells that the pod judged on.
--
-- A pod judges in Rust, on cells that may be out of date. This script is the only writer of cells and
-- of the log. Redis runs it as one step, so a commit happens completely or not at all.
--
-- KEYS: head, log, sessions, notes, marked sessions, fence of the pod, then one key for each cell.
-- ARGV: rules version, 'e' or 'n' (event or note), record, number of cells, number of sessions,
--       fence number, commit id,
--       then for each session: time of its last event (-: remove it), id, new state ('': unchanged),
--       then for each cell: version expected, time to live in ms (0: for ever, -: delete),
--       bytes ('': unchanged),
--       then, if the record puts something in force, the field of the head that holds it and its value.
local call = redis.call
-- Every reply carries Redis' time, the number of the last note, the pause and the panic: this is how pods
-- agree on the time and learn of both without another round trip.
local now = call('TIME')
local head = call('HMGET', KEYS[1], 'seq', 'hash', 'rules', 'note', 'bytes', 'pause', 'panic')
local note = head[4] or '0'
local orders = {head[6] or '', head[7] or ''}
-- 1. Same rules. Pods whose builds judge differently must not share cells. A namespace that was
--    emptied has no rules yet; the fence below stops the pod then.
if head[3] and head[3] ~= ARGV[1] then
  return {'rules', now[1], now[2], note, orders, head[3]}
end
-- 2. Same fence. A pod raises its fence when it reconnects. So a commit that it gave up before and
--    decided offline, or will send again, can't be written late.
if call('GET', KEYS[6]) ~= ARGV[6] then
  return {'fenced', now[1], now[2], note, orders}
end
-- 3. Same versions, of every cell that was read, also of those that stay as they are: the verdict
--    depends on all of them. The reply holds all fresh cells, so one more round trip is enough.
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
  return {'stale', now[1], now[2], note, orders, fresh}
end
-- From here on everything is written. The hash chain is made here because only Redis knows which
-- record comes before this one.
local seq = (tonumber(head[1]) or 0) + 1
local prev = head[2] or ''
local number = struct.pack('>I8', seq)
local hash = redis.sha1hex(prev .. number .. ARGV[3])
-- The version has part of the hash in it: after a failover that lost records, the same numbers are
-- given again, and a cell from the lost future must not look current.
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
-- The indexes that listings read: sessions by last event, and those with a kill or block mark.
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
-- '%.0f' because Lua 5.1 numbers are doubles, and tostring() would write 1e+15.
local text = string.format('%.0f', seq)
-- The commit id stands beside the record: a pod that got no reply finds out here whether its commit
-- was written.
call('XADD', KEYS[2], text .. '-0', 'b', ARGV[3], 'h', hash, 'i', ARGV[7])
local bytes = string.format('%.0f', (tonumber(head[5]) or 0) + #ARGV[3])
if ARGV[2] == 'n' then
  note = text
  call('ZADD', KEYS[4], text, text)
  call('HSET', KEYS[1], 'seq', text, 'hash', hash, 'bytes', bytes, 'note', note)
else
  call('HSET', KEYS[1], 'seq', text, 'hash', hash, 'bytes', bytes)
end
-- In the same step as its note: nobody sees a pause without its note in the log, or the other way round.
local field, value = ARGV[before + 3 * cells + 1], ARGV[before + 3 * cells + 2]
if field then
  call('HSET', KEYS[1], field, value)
  if field == 'pause' then
    orders[1] = value
  elseif field == 'panic' then
    orders[2] = value
  end
end
return {'done', now[1], now[2], note, orders, text, prev, hash}
