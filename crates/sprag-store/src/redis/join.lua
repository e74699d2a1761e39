-- Joins a namespace, and creates it if it is new. Returns what a pod has to know before it may judge.
--
-- KEYS: head, log, sessions, notes, marked sessions, and the pod's fence if it raises it.
-- ARGV: rules version, a secret and an epoch in case the namespace is new; the format of the keys;
--       number and time to live of the fence.
local now = redis.call('TIME')
-- A script that fails in the middle is not undone. So the types of the keys that commit.lua writes
-- without reading them first are checked here: no commit can fail halfway because of them.
for i, kind in ipairs({'hash', 'stream', 'zset', 'zset', 'hash'}) do
  local found = redis.call('TYPE', KEYS[i]).ok
  if found ~= 'none' and found ~= kind then
    return redis.error_reply('WRONGTYPE ' .. KEYS[i] .. ' is a ' .. found)
  end
end
-- Nothing is written into a namespace of another format. One from before formats were numbered has the
-- first.
local format = redis.call('HGET', KEYS[1], 'format')
if not format and redis.call('EXISTS', KEYS[1]) == 1 then
  format = '1'
end
if format and format ~= ARGV[4] then
  return redis.error_reply('FORMAT ' .. format)
end
redis.call('HSET', KEYS[1], 'format', ARGV[4])
-- The fence only goes up: a delayed call of this script must not undo a later one.
if KEYS[6] and tonumber(ARGV[5]) > (tonumber(redis.call('GET', KEYS[6])) or 0) then
  redis.call('SET', KEYS[6], ARGV[5], 'PX', ARGV[6])
end
-- The first pod decides: all pods digest under its secret. The epoch changes if the namespace was
-- emptied and created again, so pods notice that they lost everything.
redis.call('HSETNX', KEYS[1], 'rules', ARGV[1])
redis.call('HSETNX', KEYS[1], 'secret', ARGV[2])
redis.call('HSETNX', KEYS[1], 'epoch', ARGV[3])
-- The newest build decides on the rules version. Older pods are refused by commit.lua from then on.
local rules = redis.call('HGET', KEYS[1], 'rules')
if tonumber(rules) < tonumber(ARGV[1]) then
  rules = ARGV[1]
  redis.call('HSET', KEYS[1], 'rules', rules)
end
local head = redis.call('HMGET', KEYS[1], 'secret', 'epoch', 'seq', 'hash', 'note', 'pause', 'panic')
return {now[1], now[2], rules, head[1], head[2], head[3] or '0', head[4] or '', head[5] or '0', {head[6] or '', head[7] or ''}}
