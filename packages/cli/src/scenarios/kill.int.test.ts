import { testKills } from '../testing/kill-scenario.ts';
import { storeUnderTest } from '../testing/store-under-test.ts';

testKills(storeUnderTest());
