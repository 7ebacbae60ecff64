// The cache of programs that share the heap: what is evicted, and in which order.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LruCache } from '../../../../js/dist/runtime/compilation_cache.js';

/** A function that looks keys up, and the keys in the order of their disposal. */
function cacheOf(...limits) {
  const cache = new LruCache(...limits);
  const disposed = [];
  const get = (key) => cache.get(key, () => ({ key, dispose: () => disposed.push(key) })).key;
  return { cache, disposed, get };
}

test('a value is made once and found again', () => {
  const { cache, get } = cacheOf(2);
  const key = {};
  assert.equal(get(key), key);
  assert.equal(get(key), key);
  assert.equal(cache.made, 1);
  assert.ok(cache.has(key));
  assert.ok(!cache.has({}));
});

test('the least recently used value is disposed of when the cache is full', () => {
  const { cache, disposed, get } = cacheOf(3);
  ['a', 'b', 'c', 'a', 'd', 'e'].forEach(get);
  assert.deepEqual(disposed, ['b', 'c']);
  assert.deepEqual([cache.size, cache.made], [3, 5]);
});

test('several are evicted at once, oldest first', () => {
  const { cache, disposed, get } = cacheOf(4, 2);
  ['a', 'b', 'c', 'd', 'b', 'e'].forEach(get);
  assert.deepEqual(disposed, ['a', 'c']);
  assert.equal(cache.size, 3);
  cache.evict();
  assert.deepEqual(disposed, ['a', 'c', 'd', 'b', 'e']);
  assert.equal(cache.size, 0);
});

test('a value that could not be made is not cached', () => {
  const { cache, get } = cacheOf(2);
  const fails = () => {
    throw new Error('no memory');
  };
  assert.throws(() => cache.get('a', fails), /no memory/);
  assert.deepEqual([cache.size, cache.made], [0, 0]);
  assert.equal(get('a'), 'a');
});
